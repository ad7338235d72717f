import type { Plugin } from "vite";

export declare function leanUplot(text: string): string;
export declare function leanUplotPlugin(): Plugin;
