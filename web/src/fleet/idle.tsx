import { count, duration, plural } from "../format";
import { tabPath } from "../tabs";
import type { Fleet } from "./calls";
import { idleWords } from "./words";

// GPUs that running jobs hold and never used.

const kShown = 8; // GPUs of a job that are named

export function Idle({ idle }: { readonly idle: Fleet["idle_now"] }) {
  return (
    <section class="card facts" aria-labelledby="fleet-idle">
      <div class="section-head">
        <h2 id="fleet-idle">Idle now</h2>
      </div>
      <p>{idleWords(idle)}</p>
      <ol class="fleet-losses">
        {idle.jobs.map(({ name, user, gpus, idle_gpus: devices }) => (
          <li key={name}>
            <p>
              <a href={`${tabPath(name, "rules")}?show=IdleGPU`}>{name}</a> <b>{`${count(devices.length)} of ${plural(gpus, "GPU")}`}</b>{" "}
              <span class="faint">{user ?? ""}</span>
            </p>
            <p>
              {devices.slice(0, kShown).map(({ node, device, idle_seconds }) => `${node} ${device} for ${duration(idle_seconds)}`).join(", ")}
              {devices.length > kShown ? ` and ${count(devices.length - kShown)} more` : ""}
            </p>
          </li>
        ))}
      </ol>
      {idle.jobs_total > idle.jobs.length ? <p class="faint">{count(idle.jobs_total - idle.jobs.length)} more jobs hold idle GPUs.</p> : null}
    </section>
  );
}
