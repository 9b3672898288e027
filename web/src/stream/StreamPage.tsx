// The conversation with Windlass about a folder: what was said, the work that came of it, and what is happening with that now.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";

import { post } from "../api/client";
import { session, sessions } from "../api/queries";
import { asProblem } from "../api/problem";
import { Page } from "../parts/Page";
import { Empty, Failed, Loading } from "../parts/States";
import { Composer } from "./Composer";
import { SessionSwitch } from "./SessionSwitch";
import { Story } from "./Story";
import { useStory } from "./useStory";
import "./Stream.css";

export function StreamPage() {
  const { session: id } = useParams({ strict: false });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const known = useQuery(sessions);
  // Which conversation is the folder's own only the server knows.
  const open = useMutation({
    mutationFn: (name: string) => post("/v1/sessions", { name }),
    onSuccess: (opened) => void navigate({ to: "/stream/$session", params: { session: opened.session_id }, replace: id === undefined }),
  });
  const { mutate: openSession, isIdle } = open;
  useEffect(() => {
    if (id !== undefined || known.data === undefined || !isIdle) return;
    const newest = known.data.sessions.at(-1);
    if (newest === undefined) openSession("");
    else void navigate({ to: "/stream/$session", params: { session: newest.session_id }, replace: true });
  }, [id, known.data, isIdle, openSession, navigate]);

  // One in which nothing was said is not known yet; where there are more than a page of them, only asking tells.
  const isListed = known.data?.sessions.some(({ session_id }) => session_id === id) ?? false;
  const isAsked = id !== undefined && known.data !== undefined && (isListed || Boolean(known.data.next));
  const current = useQuery({ ...session(id ?? ""), enabled: isAsked, retry: false });
  const isNew = known.data !== undefined && (!isAsked || asProblem(current.error).status === 404);
  const story = useStory(current.data === undefined || id === undefined ? undefined : `/v1/sessions/${id}/events`);

  if (open.isError) return <Page title="Stream"><Failed error={open.error} again={() => open.mutate("")} /></Page>;
  if (current.isError && !isNew) return <Page title="Stream"><Failed error={current.error} again={() => void current.refetch()} /></Page>;
  if (id === undefined || (current.data === undefined && !isNew)) return <Page title="Stream"><Loading what="the conversation" /></Page>;
  return (
    <Page title="Stream" beside={<SessionSwitch current={id} known={known.data?.sessions ?? []} onOpen={(name) => open.mutate(name)} />}>
      <div className="stream">
        {current.data !== undefined && story.items.length === 0 ? (
          <Loading what="what was said" />
        ) : story.items.length === 0 ? (
          <Empty title="Nothing was said here yet.">
            <p>Say what you would like to know or to have done. Small talk is answered at once; work waits for your yes in Review.</p>
          </Empty>
        ) : (
          <Story story={story} />
        )}
        <Composer
          session={id}
          tasks={(current.data?.tasks ?? []).filter(({ status }) => status === "RUNNING" || status === "PAUSED")}
          onSaid={() => void queries.invalidateQueries({ queryKey: ["sessions"] })}
        />
      </div>
    </Page>
  );
}
