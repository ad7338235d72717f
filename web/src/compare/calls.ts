import { address, ask } from "../api";
import type { components } from "../openapi";

type Schemas = components["schemas"];

export type ComparedJob = Schemas["ComparedJob"];
export type ComparedSteps = Schemas["ComparedSteps"];
export type StepChange = Schemas["StepChange"];
export type Comparison = Schemas["Comparison"];

export function compareJobs(a: string, b: string, stop: AbortSignal): Promise<Comparison> {
  return ask(address("/compare", { a, b }), "differs", { stop });
}

export const tableAddress = (a: string, b: string): string => address("/compare", { a, b, format: "csv" });
