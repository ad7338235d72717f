import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { address, ApiError, ask, jobPath } from "../../api";
import type { Job } from "../../model";
import { navigate } from "../../router";
import { mayChange } from "../../session";
import { faultWords } from "../../states";

// Deleting a job: a button for those who may, and a dialog in which the job's name must be typed.

interface QuestionProps {
  readonly job: Job;
  readonly close: () => void;
}

function Question({ job, close }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const typed = useSignal("");
  const fault = useSignal("");
  const busy = useSignal(false);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const named = typed.value.trim() === job.name;
  const remove = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!named || busy.value) return;
    busy.value = true;
    fault.value = "";
    try {
      await ask(address(jobPath(job.name)), "", { method: "DELETE" });
      navigate("/jobs");
    } catch (error) {
      fault.value = error instanceof ApiError ? faultWords(error) : String(error);
      busy.value = false;
    }
  };
  return (
    <dialog ref={dialog} class="question" aria-labelledby="delete-title" onClose={close}>
      <h2 id="delete-title">Delete “{job.name}”?</h2>
      <p>
        Its samples, steps, verdicts and findings are removed for good.
        {job.ended_us === null ? <b> It still runs: what is measured from now on is lost.</b> : null}
      </p>
      <form onSubmit={(event) => void remove(event)}>
        <label>
          <span>Type its name to confirm</span>
          <input value={typed.value} onInput={(event) => (typed.value = event.currentTarget.value)} autocomplete="off" autocapitalize="off" spellcheck={false} />
        </label>
        <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">The job was not deleted. {fault.value}</p>}</div>
        <p class="dialog-ways">
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button class="danger" disabled={!named || busy.value}>
            Delete
          </button>
        </p>
      </form>
    </dialog>
  );
}

export function Remove({ job }: { readonly job: Job }) {
  const asked = useSignal(false);
  if (!mayChange.value) return null;
  return (
    <p class="job-remove">
      <button type="button" class="danger" onClick={() => (asked.value = true)}>
        Delete this job…
      </button>
      {asked.value ? <Question job={job} close={() => (asked.value = false)} /> : null}
    </p>
  );
}
