import { address, ask } from "../api";
import type { components } from "../openapi";

// The calls about webhooks and the log of their messages, as openapi.yaml describes them.

type Schemas = components["schemas"];

export type Webhook = Schemas["Webhook"];
/** A webhook with its secret, which the service says once. */
export type MadeWebhook = Schemas["CreatedWebhook"];
export type Delivery = Schemas["Delivery"];
export type DeliveryPage = Schemas["DeliveryPage"];
export type Attempt = Delivery["attempts"][number];

/** The events that a webhook may ask for, with their words. */
export const kEvents: readonly (readonly [string, string])[] = [
  ["rule.issues_found", "a rule found something"],
  ["rule.cleared", "what a rule found no longer happens"],
  ["rule.error", "a rule could not judge"],
  ["job.completed", "a job completed"],
  ["job.failed", "a job failed"],
  ["job.stopped", "somebody stopped a job"],
  ["job.stalled", "all nodes of a job are silent"],
  ["fleet.weekly", "a week ended: hours of all GPUs"],
  ["agent.silent", "a node of a job is silent for 2 minutes"],
];

const hookPath = (id: string) => `/webhooks/${encodeURIComponent(id)}`;

export async function listWebhooks(stop: AbortSignal): Promise<readonly Webhook[]> {
  return (await ask<{ items: readonly Webhook[] }>(address("/webhooks"), "items", { stop })).items;
}

/** `after_seconds`: for how long a finding must last before the webhook is told of it; 0 = at once. */
export function makeWebhook(url: string, { events, after_seconds }: Pick<Webhook, "events" | "after_seconds">): Promise<MadeWebhook> {
  return ask(address("/webhooks"), "secret", { method: "POST", body: { url, events, after_seconds } });
}

/** Changes what is named; everything else stays. */
export function changeWebhook(id: string, change: Schemas["WebhookChange"]): Promise<Webhook> {
  return ask(address(hookPath(id)), "url", { method: "PATCH", body: change });
}

export function deleteWebhook(id: string): Promise<null> {
  return ask(address(hookPath(id)), "", { method: "DELETE" });
}

export function testWebhook(id: string): Promise<Delivery> {
  return ask(address(`${hookPath(id)}/test`), "attempts", { method: "POST", body: {} });
}

export function listDeliveries(parameters: { readonly webhook?: string; readonly job?: string; readonly cursor?: string }, stop: AbortSignal): Promise<DeliveryPage> {
  return ask(address("/deliveries", parameters), "items", { stop });
}

export function retryDelivery(id: string): Promise<Delivery> {
  return ask(address(`/deliveries/${encodeURIComponent(id)}/retry`), "attempts", { method: "POST", body: {} });
}
