// The conversation with Windlass about a folder: what was said, the work that came of it, and what is happening with that now.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";

import { post, type Schemas } from "../api/client";
import { session, sessions } from "../api/queries";
import { asProblem } from "../api/problem";
import { Page } from "../parts/Page";
import { Empty, Failed, Loading } from "../parts/States";
import { Composer } from "./Composer";
import { SessionSwitch } from "./SessionSwitch";
import { Story } from "./Story";
import { useLiveWords } from "./useLiveWords";
import { useStory } from "./useStory";
import "./Stream.css";

export function StreamPage() {
  const { session: id } = useParams({ strict: false });
  const navigate = useNavigate();
  const known = useQuery(sessions);
  // Which conversation is the folder's own only the server knows.
  const open = useMutation({
    mutationFn: (name: string) => post("/v1/sessions", { name }),
    onSuccess: (opened) => void navigate({ to: "/stream/$session", params: { session: opened.session_id }, replace: id === undefined }),
  });
  const { mutate: openSession, isIdle } = open;
  useEffect(() => {
    if (id !== undefined || known.data === undefined || !isIdle) return;
    const newest = known.data.sessions[0];
    if (newest === undefined) openSession("");
    else void navigate({ to: "/stream/$session", params: { session: newest.session_id }, replace: true });
  }, [id, known.data, isIdle, openSession, navigate]);

  if (open.isError) return <Page title="Stream"><Failed error={open.error} again={() => open.mutate("")} /></Page>;
  if (known.data === undefined && known.isError) return <Page title="Stream"><Failed error={known.error} again={() => void known.refetch()} /></Page>;
  if (id === undefined || known.data === undefined) return <Page title="Stream"><Loading what="the conversation" /></Page>;
  const all = known.data.sessions;
  return (
    <Page title="Stream" beside={<SessionSwitch current={id} known={all} onOpen={(name) => open.mutate(name)} />}>
      {/* Each conversation has a page of its own: what one is writing in one of them goes to no other. */}
      <Conversation key={id} id={id} known={all.find(({ session_id }) => session_id === id)} />
    </Page>
  );
}

function Conversation({ id, known }: { id: string; known: Schemas["SessionSummary"] | undefined }) {
  const queries = useQueryClient();
  // One in which nothing was said is not known yet.
  const current = useQuery({ ...session(id), enabled: known !== undefined, retry: (count, error) => asProblem(error).isPassing && count < 4 });
  const read = useStory(known === undefined ? undefined : id, known?.began_position ?? 0);
  const tasks = current.data?.tasks ?? [];
  const ours = new Set([...tasks.map(({ task_id }) => task_id), ...(known?.tasks ?? []), current.data?.turn ?? known?.turn]);
  const live = useLiveWords((task) => ours.has(task));
  return (
    <div className="stream">
      {read.error !== null ? (
        <Failed error={read.error} again={read.again} />
      ) : known !== undefined && !read.isRead ? (
        <Loading what="what was said" />
      ) : known === undefined ? (
        <Empty title="Nothing was said here yet.">
          <p>Say what you would like to know or to have done. Small talk is answered at once; work waits for your yes in Review.</p>
        </Empty>
      ) : (
        <Story story={read.story} live={live} hasEarlier={read.hasEarlier} isReading={read.isReading} onEarlier={read.readEarlier} />
      )}
      <Composer
        session={id}
        tasks={tasks.filter(({ status }) => status === "RUNNING" || status === "PAUSED")}
        onSaid={() => void queries.invalidateQueries({ queryKey: ["sessions"] })}
      />
    </div>
  );
}
