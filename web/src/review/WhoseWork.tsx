// Whose work asks: the task that somebody began, and which item of its plan it is.
import { Link } from "@tanstack/react-router";

import type { Whose } from "../api/types";
import { firstLine, short } from "../text/format";
import { Visible } from "../text/Visible";

export function WhoseWork({ whose }: { whose: Whose }) {
  const { task_id: task, goal, item, item_title: title } = whose;
  return (
    <>
      Task <Link to="/tasks/$task" params={{ task }}>{goal === "" ? short(task) : <Visible text={firstLine(goal)} />}</Link>
      {item && (
        <>
          {", item "}
          <Link to="/tasks/$task" params={{ task }} search={{ atom: item }}><Visible text={title ?? item} /></Link>
        </>
      )}
      {" · "}
    </>
  );
}
