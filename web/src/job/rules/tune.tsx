import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ApiError, listJudged } from "../../api";
import { listRules } from "../../rule_types";
import { plural, share, type TimeZone } from "../../format";
import type { Job, RuleParameter, RulePreview, RuleType } from "../../model";
import { mayChange } from "../../session";
import { faultWords } from "../../states";
import { RuleHistory } from "./rule_history";
import { changeRule, previewRule } from "./tune_calls";
import { givenOf, rangeOf, type Refusal, refusalOf, textOf, type Texts } from "./tune_fields";

// The form of a rule's parameters: it shows them, previews the verdict with other values, and saves these for
// people who may change rules. The service checks the values; a refusal is shown at the field it is about.

interface Found {
  readonly type: RuleType;
  readonly texts: Texts; // the values that the job has now
}

const wordsOf = (fault: unknown) => (fault instanceof ApiError ? faultWords(fault) : String(fault));

async function find(job: string, name: string, stop: AbortSignal): Promise<Found> {
  const [types, judged] = await Promise.all([listRules(stop), listJudged(job, stop)]);
  const rule = judged.find((each) => each.rule_configuration_name === name);
  const type = types.find((each) => each.name === rule?.rule);
  if (!rule || !type) throw new ApiError(`The job has no rule “${name}” any more`, null, null);
  return { type, texts: Object.fromEntries(type.parameters.map((each) => [each.name, textOf(rule.parameters[each.name])])) };
}

interface FieldProps {
  readonly parameter: RuleParameter;
  readonly text: string;
  readonly refused: string | null;
  readonly change: (text: string) => void;
}

function Field({ parameter, text, refused, change }: FieldProps) {
  const id = `tune-${parameter.name}`;
  return (
    <div class="tune-field">
      <label for={id}>
        {parameter.name}
        {parameter.unit === "" ? "" : ` (${parameter.unit})`}
      </label>
      <input
        id={id}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        aria-describedby={`${id}-refused ${id}-help`}
        aria-invalid={refused !== null}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
      />
      <p id={`${id}-refused`} class="tune-refused">
        {refused}
      </p>
      <p id={`${id}-help`} class="tune-help">
        {parameter.help} {rangeOf(parameter)}.
      </p>
    </div>
  );
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;

function PreviewResult({ found }: { readonly found: RulePreview }) {
  const findings = found.findings_total === 0 ? "" : ` ${sentence(`${plural(found.findings_total, "finding")}${found.share ? `, in ${share(found.share)} of the judged time` : ""}`)}`;
  return (
    <>
      <p>
        <b>{found.verdict.kind === "unknown" ? "It would not be judged." : sentence(found.difference)}</b>
        {findings}
      </p>
      <p>{sentence(found.verdict.sentence)}</p>
      <p class="tune-help">Judged: {found.judged.sentence}.</p>
    </>
  );
}

interface FormProps {
  readonly job: Job;
  readonly name: string;
  readonly found: Found;
  readonly changed: () => void;
  readonly close: () => void;
}

function Form({ job, name, found, changed, close }: FormProps) {
  const { parameters } = found.type;
  const saved = useSignal(found.texts);
  const texts = useSignal(found.texts);
  const preview = useSignal<RulePreview | null>(null);
  const done = useSignal("");
  const refusal = useSignal<Refusal | null>(null);
  const busy = useSignal("");
  const form = useRef<HTMLFormElement>(null);
  const differs = parameters.some((each) => texts.value[each.name] !== saved.value[each.name]);
  const running = job.ended_us === null;

  const set = (next: Texts) => {
    texts.value = next;
    preview.value = refusal.value = null;
    done.value = "";
  };
  const ask = async (what: string, call: () => Promise<void>) => {
    if (busy.value !== "") return;
    set(texts.value);
    busy.value = what;
    try {
      await call();
    } catch (fault) {
      const named = fault instanceof ApiError && fault.status === 400 ? refusalOf(parameters, fault.sentence) : null;
      refusal.value = named ?? { of: null, words: wordsOf(fault) };
      if (named) form.current?.querySelector<HTMLElement>(`#tune-${named.of}`)?.focus();
    }
    busy.value = "";
  };
  const askPreview = () => ask("Asking what it would say …", async () => void (preview.value = await previewRule(job.name, name, givenOf(parameters, texts.value))));
  const apply = () =>
    ask("Changing it …", async () => {
      await changeRule(job.name, name, givenOf(parameters, texts.value));
      saved.value = texts.value;
      done.value = "Changed. The rule is judged anew from what is stored, and is in progress until it has caught up.";
      changed();
    });

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void askPreview();
      }}
    >
      {parameters.length === 0 ? <p>It has no parameters.</p> : null}
      {parameters.map((each) => (
        <Field
          key={each.name}
          parameter={each}
          text={texts.value[each.name] ?? ""}
          refused={refusal.value?.of === each.name ? refusal.value.words : null}
          change={(text) => set({ ...texts.value, [each.name]: text })}
        />
      ))}
      <div role="alert">{refusal.value === null || refusal.value.of !== null ? null : <p class="notice notice-red">{refusal.value.words}</p>}</div>
      <div role="status" class="tune-preview">
        {preview.value ? <PreviewResult found={preview.value} /> : <p>{done.value || busy.value}</p>}
      </div>
      {running ? null : <p class="tune-help">The job has ended: its rules are not changed any more, but they can be tried.</p>}
      {mayChange.value || !running ? null : <p class="tune-help">Your role may try other values, not change them.</p>}
      <p class="dialog-ways">
        <button type="button" onClick={close}>
          Close
        </button>
        <button type="button" onClick={() => set(Object.fromEntries(parameters.map((each) => [each.name, textOf(each.default ?? texts.value[each.name])])))}>
          Defaults
        </button>
        <button>Would it have fired?</button>
        {running && mayChange.value ? (
          <button type="button" class="primary" disabled={!differs} onClick={() => void apply()}>
            Apply
          </button>
        ) : null}
      </p>
    </form>
  );
}

interface QuestionProps {
  readonly job: Job;
  readonly name: string;
  readonly zone: TimeZone;
  readonly startMs: number;
  readonly changed: () => void;
  readonly close: () => void;
}

function Question({ job, name, zone, startMs, changed, close: closed }: QuestionProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const found = useSignal<Found | null>(null);
  const fault = useSignal("");
  const close = () => dialog.current?.close();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const stop = new AbortController();
    find(job.name, name, stop.signal).then(
      (rule) => (found.value = rule),
      (reason: unknown) => stop.signal.aborted || (fault.value = wordsOf(reason)),
    );
    return () => stop.abort();
  }, []);
  return (
    <dialog ref={dialog} class="question tune" aria-labelledby="tune-title" onClose={closed}>
      <h2 id="tune-title">Parameters of {name}</h2>
      {found.value === null ? (
        <>
          <div role="status">{fault.value === "" ? <p>Loading them …</p> : null}</div>
          <div role="alert">{fault.value === "" ? null : <p class="notice notice-red">They could not be loaded. {fault.value}</p>}</div>
          <p class="dialog-ways">
            <button type="button" onClick={close}>
              Close
            </button>
          </p>
        </>
      ) : (
        <>
          <p class="tune-help">{found.value.type.sentence}</p>
          <RuleHistory job={job.name} name={name} zone={zone} startMs={startMs} />
          <Form job={job} name={name} found={found.value} changed={changed} close={close} />
        </>
      )}
    </dialog>
  );
}

interface TuneProps {
  readonly job: Job;
  readonly rule: Signal<string | null>; // the rule whose form is open
  readonly zone: TimeZone;
  readonly startMs: number;
  readonly changed: () => void;
}

export function Tune({ rule, ...rest }: TuneProps) {
  const name = rule.value;
  const close = () => void (rule.value = null);
  useEffect(() => close, []);
  return name === null ? null : <Question key={name} name={name} close={close} {...rest} />;
}
