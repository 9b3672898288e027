//! What was begun is done to its end. Whoever asks may hang up at any moment, and what would have answered them is then dropped where it
//! stands: a key would stay claimed without an answer, and of two commits one would be missing. So whatever may change something is a task
//! of its own, and whoever is still there hears what came of it.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;
use windlass_domain::Runtime;

use crate::problems::Refusal;

pub async fn to_its_end(State(runtime): State<Arc<dyn Runtime>>, request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let (tell, heard) = oneshot::channel();
    runtime.spawn(Box::pin(async move {
        let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
        let _nobody_may_be_there = tell.send(answered);
    }));
    match heard.await {
        Ok(Ok(response)) => response,
        Ok(Err(bug)) => resume_unwind(bug),
        // The process ends.
        Err(_) => Refusal::broken().into_response(),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "`tokio::test` builds its own executor")]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use futures_util::future::{Either, select};
    use hyper::service::Service as _;
    use hyper_util::service::TowerToHyperService;
    use tokio::sync::mpsc;
    use windlass_runtime::TokioRuntime;

    use super::*;

    /// Says when it has begun, waits until it may go on, and says that it is done.
    #[tokio::test]
    async fn whoever_hangs_up_leaves_nothing_half_done() {
        let (begun, mut has_begun) = mpsc::unbounded_channel();
        let (done, mut is_done) = mpsc::unbounded_channel();
        let (go_on, may_go_on) = tokio::sync::watch::channel(false);
        let handler = move || {
            let (begun, done, mut may_go_on) = (begun.clone(), done.clone(), may_go_on.clone());
            async move {
                begun.send(()).unwrap();
                may_go_on.wait_for(|may| *may).await.unwrap();
                done.send(()).unwrap();
            }
        };
        let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
        let router = Router::new().route("/", post(handler)).route_layer(from_fn_with_state(runtime, to_its_end));
        let request = Request::post("/").body(Body::empty()).unwrap();
        let asking = Box::pin(TowerToHyperService::new(router).call(request));
        let Either::Right((_, asking)) = select(asking, Box::pin(has_begun.recv())).await else {
            panic!("nobody lets it go on")
        };
        drop(asking);
        go_on.send(true).unwrap();
        assert_eq!(is_done.recv().await, Some(()));
    }
}
