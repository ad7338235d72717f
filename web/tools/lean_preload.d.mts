import type { Plugin } from "vite";

export function leanPreloadPlugin(): Plugin;
