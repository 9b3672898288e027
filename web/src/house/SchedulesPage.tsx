// What is due some time: goals, deadlines and monitors, the next first. A goal is not changed here: leave to mend it was given for what it is,
// and one that is to be another is removed and added anew.
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { post, remove, type Schemas } from "../api/client";
import { schedules } from "../api/queries";
import { useNow } from "../parts/Ago";
import { Badge, Standing } from "../parts/Badge";
import { Dialog } from "../parts/Dialog";
import { DocumentField } from "../parts/DocumentField";
import { More } from "../parts/More";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Empty, Refused } from "../parts/States";
import { Sure } from "../parts/Sure";
import { short, until, words } from "../text/format";
import { Visible } from "../text/Visible";
import { GoalContent } from "./GoalContent";
import "./House.css";

type Schedule = Schemas["Schedule"];

export function SchedulesPage() {
  const found = useInfiniteQuery(schedules);
  const { new: isNew } = useSearch({ from: "/schedules" });
  const navigate = useNavigate({ from: "/schedules" });
  return (
    <Page title="Schedules" beside={<button type="button" className="primary" onClick={() => void navigate({ search: { new: true } })}>New goal …</button>}>
      {isNew && <NewGoal onClose={() => void navigate({ search: {}, replace: true })} />}
      <Shown query={found} what="schedules">
        {({ pages }) => {
          const all = pages.flatMap((page) => page.schedules);
          if (all.length === 0) return <Empty title="Nothing is due."><p>A goal is looked at again and again, and mended when its checks fail.</p></Empty>;
          return <ul className="house-list">{all.map((one, index) => <li key={index} className="bare"><ScheduleView schedule={one} /></li>)}</ul>;
        }}
      </Shown>
      <More of={found} />
    </Page>
  );
}

function ScheduleView({ schedule }: { schedule: Schedule }) {
  const now = useNow();
  const due = schedule.due ? `due in ${until(Date.parse(schedule.due), now)}` : "rests";
  switch (schedule.type) {
    case "goal":
      return (
        <>
          <div className="spread">
            <span className="row"><strong><Visible text={schedule.goal ?? short(schedule.goal_id)} /></strong><Standing standing={schedule.status} /></span>
            {/* The server knows it by its name. */}
            <GoalActs goal={schedule.goal ?? schedule.goal_id} status={schedule.status} />
          </div>
          <p className="muted"><Visible text={schedule.schedule} /> · {due} · looked at {schedule.looks} times, mended {schedule.fixes} times</p>
          <GoalContent goal={schedule} />
        </>
      );
    case "deadline":
      return <p className="row"><Badge>deadline</Badge><Link to="/tasks/$task" params={{ task: schedule.task_id }}>Task {short(schedule.task_id)}</Link><span className="muted">{due} · then {words(schedule.deadline_action)}</span></p>;
    case "monitor":
      return <p className="row"><Badge>monitor</Badge><Link to="/tasks/$task" params={{ task: schedule.task_id }}>Task {short(schedule.task_id)}</Link><span className="muted">{due} · <Visible text={schedule.check_prompt} /></span></p>;
  }
}

function GoalActs({ goal, status }: { goal: string; status: string }) {
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: async (what: "pause" | "resume" | "remove") => {
      const path = { goal };
      if (what === "remove") await remove("/v1/schedules/{goal}", { path });
      else await post(`/v1/schedules/{goal}/${what}`, undefined, { path });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["schedules"] }),
  });
  const [isAsked, setAsked] = useState(false);
  const what = status === "paused" ? "resume" : "pause";
  return (
    <span className="row">
      {!isAsked && <Refused error={act.error} />}
      <button type="button" className="quiet" disabled={act.isPending} onClick={() => act.mutate(what)}>{what === "pause" ? "Pause" : "Resume"}</button>
      <button type="button" className="quiet" disabled={act.isPending} onClick={() => setAsked(true)}>Remove …</button>
      {isAsked && <Sure question="Remove this goal?" says="It is looked at no more; what it did stays." action="Remove it" wish={act} onYes={() => act.mutate("remove")} onClose={() => setAsked(false)} />}
    </span>
  );
}

const EXAMPLE = `---
id: green
type: goal
title: Keep the tests green
schedule: "0 6 * * 1-5"
verify: [{command: make test}]
---
# What to do
Keep \`make test\` passing on the main branch.
`;

function NewGoal({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const [document, setDocument] = useState(EXAMPLE);
  const add = useMutation({
    mutationFn: () => post("/v1/schedules", { document }),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ["schedules"] }),
  });
  return (
    <Dialog label="New goal" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <h2>New goal</h2>
        <DocumentField label="Its document" kind="goal" autoFocus value={document} onValue={setDocument} />
        <p className="muted small">A card then asks for leave to mend it unasked.</p>
        <Refused error={add.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={add.isPending}>Add it</button>
          <button type="button" onClick={onClose}>Back</button>
        </div>
      </form>
    </Dialog>
  );
}
