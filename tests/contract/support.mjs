// Reads openapi.yaml, checks answers against it, and starts a service to ask.

import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {parse} from 'yaml';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const contract = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));

const ajv = new Ajv2020({strict: false, allErrors: true});
addFormats(ajv);
ajv.addSchema(contract, 'openapi.yaml');

/** Follows a $ref inside the document. */
export function resolve(node) {
  if (!node?.$ref) return node;
  const parts = node.$ref.slice(2).split('/');
  return resolve(parts.reduce((at, part) => at[part.replaceAll('~1', '/').replaceAll('~0', '~')], contract));
}

/** The faults of a value as text; empty when it matches its schema. */
export function faults(pointer, value) {
  const validate = ajv.getSchema(`openapi.yaml#${pointer}`);
  return validate(value) ? '' : ajv.errorsText(validate.errors) + ' in ' + JSON.stringify(value).slice(0, 2000);
}

export const escape = (key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

/** All operations of the document: [method, path, operation, pointer]. */
export function operations() {
  const list = [];
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      if (item[method]) list.push([method, path, item[method], `/paths/${escape(path)}/${method}`]);
    }
  }
  return list;
}

/** The JSON pointer of an operation's answer in the document, following a $ref. */
function answerPointer(pointer, operation, status) {
  const answer = operation.responses[status];
  return answer.$ref ? answer.$ref.slice(1) : `${pointer}/responses/${status}`;
}

/** Throws when an answer differs from the document in status, type, body or headers. */
export async function check(method, path, answer, body) {
  const [, , operation, pointer] = operations().find(([m, p]) => m === method && p === path);
  const said = resolve(operation.responses[answer.status]);
  const name = `${method} ${path} -> ${answer.status}`;
  if (!said) throw new Error(`${name} is not documented: ${body}`);
  for (const [header, meaning] of Object.entries(said.headers ?? {})) {
    const value = answer.headers.get(header);
    const {required, schema} = resolve(meaning);
    if (value === null && required) throw new Error(`${name}: ${header} is missing`);
    if (value !== null && schema.pattern && !new RegExp(schema.pattern).test(value)) {
      throw new Error(`${name}: ${header}: ${value}`);
    }
  }
  const type = (answer.headers.get('content-type') ?? '').split(';')[0];
  if (!said.content) {
    if (body !== '') throw new Error(`${name} has a body`);
    return;
  }
  if (!said.content[type]) throw new Error(`${name} has the type ${type}`);
  const value = type.endsWith('json') ? JSON.parse(body) : body;
  const wrong = faults(`${answerPointer(pointer, operation, answer.status)}/content/${escape(type)}/schema`, value);
  if (wrong) throw new Error(`${name}: ${wrong}`);
}

function findProgram() {
  const given = process.env.STEPSCOPE_BUILD_DIR;
  const folders = given ? [given] : ['release', 'dev', 'api'].map((name) => join(root, 'build', name));
  const found = folders.map((folder) => join(folder, 'stepscope-server')).find((path) => existsSync(path));
  if (!found) throw new Error('stepscope-server is not built; set STEPSCOPE_BUILD_DIR');
  return found;
}

/** Starts a service for the tests of one file on a free port; stop() ends it. */
export async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'stepscope-contract-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user when we are root
  const program = spawn(findProgram(), ['--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data'), '--webhook-allow', '127.0.0.1/32'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  program.stderr.on('data', (text) => (log += text));
  const url = await new Promise((good, bad) => {
    program.stdout.on('data', (text) => {
      const match = /Stepscope is at (\S+)\//.exec(text);
      if (match) good(match[1]);
    });
    program.on('exit', (code) => bad(new Error(`stepscope-server ended with ${code}: ${log}`)));
  });
  const stop = async () => {
    const ended = new Promise((good) => program.on('exit', good));
    program.kill('SIGTERM');
    await ended;
    rmSync(folder, {recursive: true, force: true});
  };
  return {url, stop, log: () => log};
}
