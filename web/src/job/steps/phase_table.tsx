import { count, duration, percent } from "../../format";
import type { RankSteps, Steps } from "../../model";
import { kPhases } from "../../palette";
import { phaseWord } from "./phase_panel";

// The steps of each rank as a row of numbers: percentiles of their time, and the share of each phase.

const kTimes = ["mean", "max", "p99", "p95", "p50", "min"] as const;
const shareOf = (rank: RankSteps, phase: string) => rank.phases.find((each) => each.phase === phase)?.share_percent ?? null;

export function PhaseTable({ steps }: { readonly steps: Steps }) {
  const seen = new Set<string>(steps.ranks.flatMap(({ phases }) => phases.map(({ phase }) => phase)));
  const phases = Object.keys(kPhases).filter((phase) => seen.has(phase));
  const heads = ["Rank", "Steps", ...kTimes, ...phases.map(phaseWord)];
  return (
    <section class="card facts" aria-labelledby="ranks-title">
      <div class="section-head">
        <h2 id="ranks-title">Steps by rank</h2>
        <p>Time of a step, and the share of each phase in it</p>
      </div>
      <div class="scroll row-cards" tabIndex={0} role="region" aria-label="Table of the ranks">
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.ranks.map((rank) => (
              <tr key={rank.rank}>
                <th scope="row">
                  <span class="card-word">Rank </span>
                  {rank.rank}
                  {rank.node === null ? "" : ` on ${rank.node}`}
                </th>
                <td data-label="Steps">{count(rank.steps)}</td>
                {kTimes.map((time) => (
                  <td key={time} data-label={time}>{duration(rank.wall_seconds?.[time])}</td>
                ))}
                {phases.map((phase) => (
                  <td key={phase} data-label={phaseWord(phase)}>{percent(shareOf(rank, phase))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
