// Checks openapi.yaml by itself: it is valid and complete, and its examples match its schemas.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';

import {createConfig, lint} from '@redocly/openapi-core';

import {contract, escape, faults, operations, resolve, root} from './support.mjs';

test('the document passes the linter', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {'security-defined': 'off', 'operation-4xx-response': 'error', 'no-server-example.com': 'off'},
  });
  const problems = await lint({ref: join(root, 'openapi.yaml'), config});
  const text = problems.map((p) => `${p.severity} ${p.ruleId}: ${p.message} at ${p.location[0]?.pointer}`);
  assert.deepEqual(text, []);
});

test('an anchor is set once', () => {
  const anchors = [...readFileSync(join(root, 'openapi.yaml'), 'utf8').matchAll(/[\s[{,]&(\w+)/g)].map(([, name]) => name);
  assert.ok(anchors.length > 0);
  assert.deepEqual(anchors.filter((name, at) => anchors.indexOf(name) !== at), []);
});

/** The examples of a media type: [name, value]. */
function examplesOf(content) {
  const list = Object.entries(content.examples ?? {}).map(([name, {value}]) => [name, value]);
  return content.example === undefined ? list : [...list, ['example', content.example]];
}

test('every answer with a body has an example, and all examples fit', () => {
  for (const [method, path, operation, pointer] of operations()) {
    for (const [status, reference] of Object.entries(operation.responses)) {
      const at = reference.$ref ? reference.$ref.slice(1) : `${pointer}/responses/${status}`;
      for (const [type, content] of Object.entries(resolve(reference).content ?? {})) {
        const examples = examplesOf(content);
        assert.notEqual(examples.length, 0, `${method} ${path} ${status} has no example`);
        for (const [name, value] of examples) {
          const wrong = faults(`${at}/content/${escape(type)}/schema`, value);
          assert.equal(wrong, '', `${method} ${path} ${status} ${name}`);
        }
      }
    }
  }
});

test('every body that is sent as JSON has an example that fits', () => {
  for (const [method, path, operation, pointer] of operations()) {
    const content = operation.requestBody?.content?.['application/json'];
    if (!content) continue;
    const wrong = faults(`${pointer}/requestBody/content/application~1json/schema`, content.example);
    assert.equal(wrong, '', `${method} ${path}`);
  }
});

test('every call that needs a right says how it is refused to those who have it not', () => {
  for (const [method, path, operation] of operations()) {
    const right = operation['x-stepscope-right'];
    assert.ok(right, `${method} ${path}`);
    const statuses = right === 'open' || right === 'probe' ? [] : ['401', '403', '429', '503'];
    for (const status of statuses) assert.ok(operation.responses[status], `${method} ${path} does not say ${status}`);
  }
});

test('examples of problems carry the status they stand under', () => {
  for (const [method, path, operation] of operations()) {
    for (const [status, reference] of Object.entries(operation.responses)) {
      const content = resolve(reference).content?.['application/problem+json'];
      for (const [name, value] of content ? examplesOf(content) : []) {
        assert.equal(String(value.status), status, `${method} ${path} ${name}`);
        assert.equal(value.type, `urn:stepscope:problem:${value.code}`);
      }
    }
  }
});

test('schemas are strict: no object takes members it does not name, but those that say so', () => {
  const open = new Set(['facts', 'evidence', 'gpus']);
  const walk = (node, where) => {
    if (node === null || typeof node !== 'object') return;
    const types = [node.type].flat();
    if (types.includes('object') && !where.some((part) => open.has(part))) {
      assert.notEqual(node.additionalProperties, undefined, where.join('/'));
    }
    for (const [key, value] of Object.entries(node)) {
      if (key !== 'example' && key !== 'examples') walk(value, [...where, key]);
    }
  };
  walk(contract.components.schemas, []);
});
