// Every answer of a running service against openapi.yaml: each operation, well and badly asked.

import assert from 'node:assert/strict';
import {createHmac} from 'node:crypto';
import {createServer} from 'node:http';
import {after, before, test} from 'node:test';
import {setTimeout} from 'node:timers/promises';

import {agentOf, LIFECYCLE, row, schema, SPANS} from './frames.mjs';
import {check, contract, operations, resolve, startService} from './support.mjs';

let service;
const seen = new Set();

before(async () => {
  service = await startService();
});
after(async () => {
  await service.stop();
});

/** Asks, holds the answer against the document, and gives status and JSON. */
async function ask(method, path, {parameters = {}, query = '', body, headers = {}} = {}) {
  const target = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name]));
  const options = {method: method.toUpperCase(), headers};
  if (body !== undefined) {
    options.body = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    options.headers = {'content-type': 'application/json', ...headers};
  }
  const answer = await fetch(service.url + target + query, options);
  const text = await answer.text();
  await check(method, path, answer, text);
  seen.add(`${method} ${path} ${answer.status}`);
  const json = answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  return {status: answer.status, json, headers: answer.headers};
}

/** Waits until the condition holds; at most ten seconds. */
async function until(holds) {
  for (const end = Date.now() + 10_000; !(await holds()); await setTimeout(50)) {
    assert.ok(Date.now() < end, 'it did not come to hold');
  }
}

/** Standard Webhooks: HMAC-SHA256 over id, time and body. */
function assertSigned({headers, body}, secret) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  assert.equal(headers['webhook-signature'], 'v1,' + createHmac('sha256', key).update(text).digest('base64'));
}

const job = {parameters: {name: 'contract-job'}};

test('a job is created, repeated, refused, listed and described', async () => {
  const body = {name: 'contract-job', group: 'contract', configuration: {interval_ms: 500, tags: {a: 'b'}}};
  const first = await ask('post', '/api/v1/jobs', {body});
  const second = await ask('post', '/api/v1/jobs', {body});
  assert.equal(first.status, 201);
  assert.deepEqual(second.json, first.json);
  assert.equal((await ask('post', '/api/v1/jobs', {body: {...body, group: 'other'}})).status, 409);
  assert.equal((await ask('get', '/api/v1/jobs', {query: '?group=contract'})).json.total, 1);
  assert.equal((await ask('get', '/api/v1/jobs/{name}', job)).json.name, 'contract-job');
  for (const call of ['metrics', 'percentiles', 'usage', 'steps', 'rules', 'findings', 'diagnosis', 'report', 'report.html', 'card']) {
    assert.equal((await ask('get', `/api/v1/jobs/{name}/${call}`, job)).status, 200);
  }
  assert.equal((await ask('get', '/api/v1/jobs/{name}/steps', {...job, query: '?most=8'})).json.left_out, 0);
});

test('samples of anyone are stored, drawn, and refused by name', async () => {
  const at = 1_795_205_614_000_000;
  const body = {node: 'train-7', times_us: [at, at + 500_000], series: [{metric: 'user.loss', device: 'head', values: [2.5, null]}]};
  assert.deepEqual((await ask('post', '/api/v1/jobs/{name}/samples', {...job, body})).json, {stored: 1, node: 'train-7'});
  const {series} = (await ask('get', '/api/v1/jobs/{name}/metrics', {...job, query: '?metric=user.loss'})).json;
  assert.deepEqual([series[0].node, series[0].device, series[0].max[0]], ['train-7', 'head', 2.5]);
  const folded = (await ask('get', '/api/v1/jobs/{name}/metrics', {...job, query: '?metric=user.loss&fold=metric'})).json.series;
  assert.deepEqual([folded[0].node, folded[0].of, folded[0].sum[0]], ['', 1, 2.5]);
  const heat = (await ask('get', '/api/v1/jobs/{name}/heatmap', {...job, query: '?metric=user.loss'})).json;
  assert.deepEqual([heat.rows, heat.matrix], [[{node: 'train-7', device: 'head'}], 'AA==']);
  const gpu = {...body, series: [{metric: 'gpu_util_percent', device: '0', values: [10, 90]}]};
  assert.equal((await ask('post', '/api/v1/jobs/{name}/samples', {...job, body: gpu})).status, 200);
  const {usage} = (await ask('get', '/api/v1/jobs/{name}/report', job)).json;
  assert.deepEqual([usage.devices[0].p5, usage.devices[0].p95, usage.lines[0].mean], [10, 90, [50]]);
  const unknown = {...body, series: [{metric: 'loss', values: [1, 2]}]};
  assert.equal((await ask('post', '/api/v1/jobs/{name}/samples', {...job, body: unknown})).status, 422);
});

test('the interval of a running job is changed', async () => {
  const body = {configuration: {interval_ms: 250}};
  assert.equal((await ask('patch', '/api/v1/jobs/{name}', {...job, body})).json.configuration.interval_ms, 250);
  assert.equal((await ask('get', '/api/v1/jobs/{name}', job)).json.configuration.interval_ms, 250);
});

test('a job keeps its samples as long as it was told, or as the service does', async () => {
  const keep = async (days) => {
    const body = {configuration: {keep_samples_days: days}};
    return (await ask('patch', '/api/v1/jobs/{name}', {...job, body})).json.configuration?.keep_samples_days;
  };
  assert.equal((await ask('get', '/api/v1/jobs/{name}', job)).json.configuration.keep_samples_days, null);
  assert.deepEqual([await keep(90), await keep(0), await keep(20_001), await keep(null)], [90, 0, undefined, null]);
  const body = {name: 'kept-long', configuration: {keep_samples_days: 400}};
  assert.equal((await ask('post', '/api/v1/jobs', {body})).json.configuration.keep_samples_days, 400);
});

test('the rules of a running job are changed', async () => {
  const rules = [
    {name: 'LowGPUUtilization', parameters: {threshold_p95: 60, window: '120s', patience: null}},
    {name: 'strict-cpu', rule: 'CPUBottleneck', parameters: {threshold: 20}},
    {name: 'GrowingUpload', remove: true},
  ];
  const body = {configuration: {rules}};
  const changed = (await ask('patch', '/api/v1/jobs/{name}', {...job, body})).json.configuration.rules;
  assert.equal(changed.find(({name}) => name === 'LowGPUUtilization').parameters.threshold_p95, 60);
  const names = (await ask('get', '/api/v1/jobs/{name}/rules', job)).json.items.map((item) => item.rule_configuration_name);
  assert.ok(names.includes('strict-cpu') && !names.includes('GrowingUpload'));
  assert.equal((await ask('patch', '/api/v1/jobs/{name}', {...job, body})).status, 400); // GrowingUpload is gone
});

test('a custom rule is listed like the others, and one on an unknown metric refused', async () => {
  const rule = (metric) => ({name: 'hot-disk', rule: 'Custom', parameters: {metric, threshold: 1e9, window: '60s'}});
  const change = (metric) => ask('patch', '/api/v1/jobs/{name}', {...job, body: {configuration: {rules: [rule(metric)]}}});
  const refused = await change('disk_heat');
  assert.equal(refused.status, 400);
  assert.match(refused.json.detail, /metric is "disk_heat", but must be a metric that agents send/);
  assert.equal((await change('disk_read_bytes_per_second')).status, 200);
  const {items} = (await ask('get', '/api/v1/jobs/{name}/rules', job)).json;
  assert.equal(items.find((item) => item.rule_configuration_name === 'hot-disk').rule, 'Custom');
});

test('a batch has the answers that each call would have', async () => {
  const body = {get: ['/jobs/contract-job/rules', '/session', '/jobs/nobody']};
  const {answers} = (await ask('post', '/api/v1/batch', {body})).json;
  assert.deepEqual(answers.map(({status}) => status), [200, 200, 404]);
  assert.deepEqual(answers[0].body, (await ask('get', '/api/v1/jobs/{name}/rules', job)).json);
  assert.equal((await ask('post', '/api/v1/batch', {body: {get: []}})).status, 400);
  assert.equal((await ask('post', '/api/v1/batch', {body: 'x', headers: {'content-type': 'text/plain'}})).status, 415);
});

test('a preview says what a rule would say, and stores nothing', async () => {
  const before = (await ask('get', '/api/v1/jobs/{name}/rules', job)).json.items.length;
  const body = {name: 'LowGPUUtilization', parameters: {threshold_p95: 50}};
  const told = (await ask('post', '/api/v1/jobs/{name}/rules/preview', {...job, body})).json;
  assert.equal(told.parameters.threshold_p95, 50);
  assert.equal(told.now.parameters.threshold_p95, 60);
  assert.equal(told.judged.complete, true);
  const fresh = {name: 'other', rule: 'IdleGPU'};
  assert.equal((await ask('post', '/api/v1/jobs/{name}/rules/preview', {...job, body: fresh})).json.now, null);
  const wrong = {rule: 'IdleGPU', parameters: {threshold: 101}};
  assert.equal((await ask('post', '/api/v1/jobs/{name}/rules/preview', {...job, body: wrong})).status, 400);
  const nobody = {parameters: {name: 'nobody'}, body: fresh};
  assert.equal((await ask('post', '/api/v1/jobs/{name}/rules/preview', nobody)).status, 404);
  assert.equal((await ask('get', '/api/v1/jobs/{name}/rules', job)).json.items.length, before);
});

test('the history of a rule is listed', async () => {
  const of = (rule) => ask('get', '/api/v1/jobs/{name}/rules/{rule}/transitions', {parameters: {...job.parameters, rule}});
  assert.deepEqual((await of('IdleGPU')).json, {items: [], next: null, total: 0});
  assert.equal((await of('nobody')).status, 404);
});

test('what happened to a job is listed, and why frames were refused', async () => {
  const agent = agentOf('eventful', 'host-1');
  const headers = {'content-type': 'application/vnd.stepscope.frames'};
  for (const said of [{at_us: 1_795_205_614_000_000, event: 'started', command: ['train']}, {event: 'dances'}]) {
    await ask('post', '/api/v1/ingest/frames', {body: agent(LIFECYCLE, JSON.stringify(said)), headers});
  }
  const of = (name) => ask('get', '/api/v1/jobs/{name}/events', {parameters: {name}});
  const {items, total} = (await of('eventful')).json;
  const told = items.map(({kind, node, count, detail}) => [kind, node, count, detail.code ?? '']).sort();
  assert.deepEqual(told, [['agent_started', 'host-1', 1, ''], ['frame_rejected', 'host-1', 1, 'bad-lifecycle']]);
  assert.equal(total, 2);
  assert.equal((await of('nobody')).status, 404);
});

test('a deleted job is not there any more, and its name is free', async () => {
  const gone = {parameters: {name: 'to-delete'}};
  const body = {name: 'to-delete', group: 'first'};
  assert.equal((await ask('post', '/api/v1/jobs', {body})).status, 201);
  assert.equal((await ask('delete', '/api/v1/jobs/{name}', gone)).status, 204);
  assert.equal((await ask('get', '/api/v1/jobs/{name}', gone)).status, 404);
  assert.equal((await ask('delete', '/api/v1/jobs/{name}', gone)).status, 404);
  assert.equal((await ask('post', '/api/v1/jobs', {body: {...body, group: 'second'}})).status, 201);
});

test('a job that nobody runs is stopped at once', async () => {
  const idle = {parameters: {name: 'to-stop'}};
  await ask('post', '/api/v1/jobs', {body: {name: 'to-stop'}});
  const stopped = await ask('post', '/api/v1/jobs/{name}/stop', idle);
  assert.deepEqual([stopped.status, stopped.json.status], [202, 'Stopped']);
  assert.equal((await ask('post', '/api/v1/jobs/{name}/stop', {parameters: {name: 'nobody'}})).status, 404);
});

test('a window is asked for, told to the agent, filled and read', async () => {
  const agent = agentOf('to-record', 'host-1');
  const headers = {'content-type': 'application/vnd.stepscope.frames'};
  const push = async (...frame) => {
    const {json} = await ask('post', '/api/v1/ingest/frames', {body: agent(...frame), headers});
    assert.deepEqual(json.rejected, []);
    return json.commands ?? [];
  };
  const say = (event) => push(LIFECYCLE, JSON.stringify({at_us: 1_795_205_614_000_000, ...event}));
  await say({event: 'started', command: ['train'], facts: {allows: ['interval', 'spans']}});

  const of = {parameters: {name: 'to-record', id: '1'}};
  const body = {what: 'annotations', start_step: 1000, num_steps: 10};
  const asked = await ask('post', '/api/v1/jobs/{name}/windows', {...of, body});
  assert.deepEqual([asked.status, asked.headers.get('location')], [201, '/api/v1/jobs/to-record/windows/1']);
  assert.equal((await ask('post', '/api/v1/jobs/{name}/windows', {...of, body})).status, 200);
  assert.equal((await ask('post', '/api/v1/jobs/{name}/windows', {...of, body: {start_step: 1}})).status, 409);
  const columns = ['window', 'name', 'process', 'thread', 'step', 'start_ns', 'duration_ns'];
  const span = row([1, 0, 4711, 0, 1003, 1_795_205_614_000_000_500n, 1_234_567]);
  const [command] = await push(SPANS, span, schema(0, columns, ['decode']));
  assert.deepEqual([command.kind, command.window_id, command.start_step, command.num_steps], ['spans', 1, 1000, 10]);
  await say({event: 'answered', command: command.id, outcome: 'done', reason: '', spans: 1, dropped: 0});

  const window = (await ask('get', '/api/v1/jobs/{name}/windows/{id}', of)).json;
  assert.deepEqual([window.status, window.spans], ['Recorded', 1]);
  assert.deepEqual((await ask('get', '/api/v1/jobs/{name}/windows', of)).json, {items: [window], next: null, total: 1, automatic: {allowed: false, reason: null}});
  const {items} = (await ask('get', '/api/v1/jobs/{name}/windows/{id}/spans', of)).json;
  assert.deepEqual(items.map(({name, step, duration_seconds}) => [name, step, duration_seconds]), [['decode', 1003, 0.001234567]]);
  const none = {parameters: {name: 'to-record', id: '2'}};
  assert.equal((await ask('get', '/api/v1/jobs/{name}/windows/{id}/spans', none)).status, 404);
});

test('a trace file becomes a window with answers, and is deleted', async () => {
  const name = 'traced';
  await ask('post', '/api/v1/jobs', {body: {name}});
  const span = (cat, text, ts, dur, args) => ({ph: 'X', cat, name: text, pid: 1, tid: 1, ts, dur, args});
  const trace = {
    traceEvents: [
      span('cpu_op', 'aten::mm', 10, 20, {'External id': 5}),
      span('kernel', 'sgemm', 50, 20, {'External id': 5, correlation: 9, device: 0}),
    ],
  };
  const headers = {'content-type': 'application/octet-stream'};
  const send = async (body, query = '') => ask('post', '/api/v1/jobs/{name}/traces', {parameters: {name}, query, body, headers});
  const sent = await send(JSON.stringify(trace), '?file=rank_3.json');
  assert.deepEqual([sent.status, sent.json.traces[0].rank, sent.json.traces[0].rank_from], [201, 3, 'file']);
  assert.equal((await send(JSON.stringify(trace))).status, 200);
  assert.equal((await send(`${JSON.stringify(trace)} `, '?rank=3&window=1')).status, 409);
  assert.equal((await send('nonsense')).status, 400);
  const of = {parameters: {name, id: '1'}};
  for (const path of ['breakdown', 'kernels', 'operators', 'launches', 'copies', 'communication', 'memory', 'precision', 'what-if', 'calls', 'timeline', 'search', 'timeline/pixels', 'trace.json.gz']) {
    assert.equal((await ask('get', `/api/v1/jobs/{name}/windows/{id}/${path}`, of)).status, 200);
  }
  assert.equal((await ask('get', '/api/v1/jobs/{name}/windows/{id}/ranks', of)).status, 200);
  assert.deepEqual((await ask('get', '/api/v1/jobs/{name}/windows', of)).json.items, [sent.json]);
  assert.equal((await ask('delete', '/api/v1/jobs/{name}/windows/{id}', of)).status, 204);
  const step = span('user_annotation', 'ProfilerStep#4', 5, 90, {});
  const stepped = await send(JSON.stringify({traceEvents: [step, ...trace.traceEvents]}));
  const both = {parameters: {name, id: stepped.json.id}, query: `?with=${stepped.json.id}`};
  assert.equal((await ask('get', '/api/v1/jobs/{name}/windows/{id}/compare', both)).status, 200);
});

test('a node whose clock is off says since when and how far', async () => {
  const headers = {'content-type': 'application/vnd.stepscope.frames'};
  for (const [node, behind] of [['host-1', 3_600_000_000], ['host-2', 0]]) {
    const started = JSON.stringify({at_us: 1_795_205_614_000_000, event: 'started', command: ['train']});
    const body = agentOf('wrong-clock', node, behind)(LIFECYCLE, started);
    assert.equal((await ask('post', '/api/v1/ingest/frames', {body, headers})).status, 200);
  }
  const {nodes} = (await ask('get', '/api/v1/jobs/{name}', {parameters: {name: 'wrong-clock'}})).json;
  assert.deepEqual(nodes.map(({clock_suspect: seen}) => seen?.offset_us), [3_600_000_000, undefined]);
  assert.deepEqual([nodes[0].clock_suspect.until, nodes[1].clock_suspect], [null, null]);
});

test('the rules of the catalog can be given to a job as they are listed', async () => {
  const {items} = (await ask('get', '/api/v1/rules')).json;
  for (const {name, sentence, fires, advice} of items) {
    for (const text of [sentence, fires, advice]) assert.match(text, /\.$/, name);
  }
  const given = {metric: 'user.loss', threshold: 4}; // the parameters without a default
  const rules = items.map(({name, parameters}) => ({
    rule: name,
    parameters: Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter.default ?? given[parameter.name]])),
  }));
  const made = await ask('post', '/api/v1/jobs', {body: {name: 'all-rules', configuration: {rules}}});
  assert.equal(made.status, 201);
});

test('webhooks are made, shown without their secret, tested and deleted; messages arrive signed', async () => {
  const received = [];
  const receiver = createServer((request, answer) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
      received.push({headers: request.headers, body});
      answer.end();
    });
  });
  await new Promise((good) => receiver.listen(0, '127.0.0.1', good));
  receiver.unref(); // a test that fails shall end nevertheless
  const url = `http://127.0.0.1:${receiver.address().port}/hook`;
  const made = await ask('post', '/api/v1/webhooks', {body: {url, events: ['job.failed']}});
  const hook = {parameters: {id: made.json.id}};
  assert.equal((await ask('post', '/api/v1/webhooks', {body: {url}})).status, 409);
  assert.equal((await ask('get', '/api/v1/webhooks')).json.items.length, 1);
  assert.equal((await ask('get', '/api/v1/webhooks/{id}', hook)).json.url, url);
  const changed = await ask('patch', '/api/v1/webhooks/{id}', {...hook, body: {events: ['rule.issues_found'], after_seconds: 60}});
  assert.deepEqual([changed.status, changed.json.after_seconds], [200, 60]);
  const sent = await ask('post', '/api/v1/webhooks/{id}/test', hook);
  assert.equal(sent.status, 202);
  await until(async () => (await ask('get', '/api/v1/deliveries')).json.items[0].state === 'delivered');
  assertSigned(received[0], made.json.secret);
  const again = {parameters: {id: sent.json.id}};
  assert.equal((await ask('post', '/api/v1/deliveries/{id}/retry', again)).status, 202);
  await until(() => received.length === 2);
  assert.equal(received[1].headers['webhook-id'], received[0].headers['webhook-id']);
  receiver.close();
  assert.equal((await ask('delete', '/api/v1/webhooks/{id}', hook)).status, 204);
});

test('deliveries are listed, and only what exists is sent again', async () => {
  assert.ok(Array.isArray((await ask('get', '/api/v1/deliveries')).json.items));
  assert.equal((await ask('post', '/api/v1/deliveries/{id}/retry', {parameters: {id: '999999'}})).status, 404);
});

test('tokens are made once, listed without their text, sign a browser in, and end it when revoked', async () => {
  const made = await ask('post', '/api/v1/tokens', {body: {name: 'contract', role: 'reader', scopes: ['contract-*'], expires_days: 1}});
  assert.equal(made.status, 201);
  const listed = (await ask('get', '/api/v1/tokens')).json.tokens.find(({id}) => id === made.json.id);
  assert.equal(listed.token, undefined);
  const entered = await ask('post', '/api/v1/session', {body: {token: made.json.token}});
  assert.deepEqual(entered.json.scopes, ['contract-*']);
  assert.equal((await ask('get', '/api/v1/session')).json.access, 'open');
  const cookie = entered.headers.get('set-cookie').split(';')[0];
  const headers = {cookie, 'sec-fetch-site': 'same-origin'};
  assert.equal((await ask('delete', '/api/v1/session', {headers})).status, 204);
  assert.equal((await ask('delete', '/api/v1/tokens/{id}', {parameters: {id: made.json.id}})).status, 204);
  assert.equal((await ask('post', '/api/v1/session', {body: {token: made.json.token}})).status, 401);
});

test('jobs that were removed are listed, newest first', async () => {
  const parameters = {name: 'contract-removed'};
  assert.equal((await ask('post', '/api/v1/jobs', {body: parameters})).status, 201);
  assert.equal((await ask('delete', '/api/v1/jobs/{name}', {parameters})).status, 204);
  const {items} = (await ask('get', '/api/v1/removals', {query: '?limit=1'})).json;
  assert.deepEqual([items[0].name, items[0].reason, items[0].ended], [parameters.name, 'deleted', null]);
});

test('changes are written down, newest first', async () => {
  const made = await ask('post', '/api/v1/tokens', {body: {name: 'noted', role: 'agent'}});
  const {items} = (await ask('get', '/api/v1/audit', {query: '?limit=1'})).json;
  assert.deepEqual([items[0].action, items[0].target, items[0].name], ['token.create', made.json.id, 'local']);
  assert.equal(items[0].peer, '127.0.0.1');
  assert.equal(items[0].request_id, made.headers.get('x-request-id'));
});

test('frames that are none are refused', async () => {
  const headers = {'content-type': 'application/vnd.stepscope.frames'};
  assert.equal((await ask('post', '/api/v1/ingest/frames', {body: 'nonsense', headers})).status, 400);
});

test('health, readiness and figures', async () => {
  assert.equal((await ask('get', '/healthz')).json.status, 'ok');
  assert.equal((await ask('get', '/readyz')).json.status, 'ready');
  assert.match((await ask('get', '/metrics')).json, /^# HELP stepscope_info/);
});

/** A value for each path parameter that names nothing that exists. */
const nothing = {name: 'no-such-job', id: '999999'};
/** Ways of asking any operation badly, and the status that follows. */
const badly = [
  ['an unknown parameter', {query: '?nonsense=1'}, [400]],
  ['a query that is no percent-encoding', {query: '?a=%zz'}, [400]],
];
for (const [method, path] of operations()) {
  for (const [how, options, statuses] of badly) {
    test(`${method} ${path} with ${how}`, async () => {
      const answer = await ask(method, path, {parameters: nothing, ...options});
      assert.ok(statuses.includes(answer.status), `${answer.status}`);
    });
  }
}

for (const [method, path, operation] of operations().filter(([, path]) => path.includes('{'))) {
  test(`${method} ${path} of something that is not there`, async () => {
    const body = operation.requestBody?.content['application/json']?.example;
    assert.equal((await ask(method, path, {parameters: nothing, body})).status, 404);
  });
}

for (const [method, path] of operations().filter(([method]) => method !== 'get')) {
  test(`${method} ${path} from a page of another origin`, async () => {
    const headers = {origin: 'http://evil.example.com'};
    assert.equal((await ask(method, path, {parameters: nothing, headers})).status, 403);
  });
}

for (const [method, path] of operations().filter(([method]) => method === 'post')) {
  test(`${method} ${path} with a body of another type, and one that is too large`, async () => {
    const other = {'content-type': 'text/plain'};
    assert.equal((await ask(method, path, {parameters: nothing, body: 'x', headers: other})).status, 415);
    if (path.endsWith('/traces')) return; // takes more than a test should send
    const large = 'x'.repeat(4 * 1024 * 1024 + 1);
    assert.equal((await ask(method, path, {parameters: nothing, body: large})).status, 413);
  });
}

/** Values of a parameter that its schema refuses. */
function wrongValues(schema) {
  const rule = resolve(schema);
  if (rule.type === 'integer') return [String(rule.minimum - 1), String(rule.maximum + 1), 'x', '1.5', '', '1e3'];
  if (rule.enum) return ['nonsense', '', rule.enum[0].toUpperCase() + 'x'];
  if (rule.format === 'date-time') return ['yesterday', '2026-13-01T00:00:00Z', '2026-11-20', ''];
  if (rule.type === 'array') return [''];
  return rule.maxLength ? ['', 'x'.repeat(rule.maxLength + 1), '%00', '%ff'] : ['!!'];
}

test('every parameter refuses what its schema refuses, by name', async () => {
  for (const [method, path, operation] of operations()) {
    for (const reference of operation.parameters ?? []) {
      const {name, in: place, schema} = resolve(reference);
      if (place !== 'query') continue;
      for (const value of wrongValues(schema)) {
        const answer = await ask(method, path, {...job, query: `?${name}=${value}`});
        assert.equal(answer.status, 400, `${path}?${name}=${value}`);
      }
    }
  }
});

test('every documented parameter is taken as its example says', async () => {
  const write = ({name, schema, example}) => `${name}=${encodeURIComponent([example ?? resolve(schema).default].flat().join(','))}`;
  for (const [method, path, operation] of operations()) {
    const parameters = (operation.parameters ?? []).map(resolve).filter((parameter) => parameter.in === 'query');
    for (const parameter of parameters) {
      if (parameter.name === 'cursor' || parameter.name === 'since') continue;
      const given = parameters.filter((other) => other === parameter || other.required).map(write);
      const answer = await ask(method, path, {...job, query: `?${given.join('&')}`});
      if (answer.status === 400) assert.match(answer.json.detail, /only with|has no|not one of/, `${path}?${given.join('&')}`);
    }
  }
});

test('every body refuses a member too many, a missing one and a wrong type', async () => {
  for (const [method, path, operation] of operations()) {
    const content = operation.requestBody?.content?.['application/json'];
    if (!content) continue;
    const good = content.example;
    const schema = resolve(content.schema);
    const bad = [{...good, nonsense: 1}, [], null, 'x', 1, '{', '{"a":1,"a":2}', ''];
    for (const name of schema.required ?? []) bad.push(Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)));
    const fits = (name, value) => value === 1 && resolve(schema.properties?.[name])?.type === 'integer';
    for (const name of Object.keys(good)) {
      for (const value of [null, 1, [1], {a: {}}]) if (!fits(name, value)) bad.push({...good, [name]: value});
    }
    for (const body of bad) {
      const answer = await ask(method, path, {...job, body});
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.json.code, 'invalid-body');
    }
  }
});

test('whether a job runs is told alone, too', async () => {
  const {json} = await ask('get', '/api/v1/jobs/{name}/status', job);
  assert.equal(json.name, job.parameters.name);
});

test('a job is compared with itself', async () => {
  const {name} = job.parameters;
  const answer = await ask('get', '/api/v1/compare', {query: `?a=${name}&b=${name}`});
  assert.equal(answer.status, 200);
});

test('the fleet is added up, as JSON and as a table', async () => {
  const {json} = await ask('get', '/api/v1/fleet', {query: '?by=group'});
  assert.equal(json.weeks.length, 12);
  const csv = await ask('get', '/api/v1/fleet', {query: '?format=csv'});
  assert.match(csv.json, /^user,jobs,/);
  assert.equal((await ask('get', '/api/v1/fleet', {query: '?by=moon'})).status, 400);
});

test('what is a table comes as one when asked, by the parameter or by the header', async () => {
  const csv = async (path, query, headers = {}) => (await ask('get', path, {...job, query, headers})).json.split('\r\n')[0];
  assert.match(await csv('/api/v1/jobs', '?format=csv'), /^name,group,status,/);
  assert.match(await csv('/api/v1/jobs', '', {accept: 'text/csv'}), /^name,group,status,/);
  assert.match(await csv('/api/v1/jobs/{name}/metrics', '?metric=user.loss&format=csv'), /^metric,node,device,unit,time,time_us,min,mean,max,sum$/);
  assert.match(await csv('/api/v1/jobs/{name}/usage', '?format=csv'), /^node,/);
  assert.equal((await ask('get', '/api/v1/jobs/{name}/steps', {...job, query: '?format=csv'})).status, 400); // it has no rank
  assert.ok((await ask('get', '/api/v1/metrics-catalog')).json.items.length > 100);
});

test('every operation was seen with its success', () => {
  const missing = [];
  for (const [method, path, operation] of operations()) {
    const wanted = Object.keys(operation.responses).filter((status) => status.startsWith('2'));
    if (!wanted.some((status) => seen.has(`${method} ${path} ${status}`))) missing.push(`${method} ${path}`);
  }
  // These operations need frames and a node that has sent some: the tests of server/api have them.
  const elsewhere = ['post /api/v1/ingest/frames', 'delete /api/v1/nodes/{id}/binding'];
  assert.deepEqual(missing.filter((name) => !elsewhere.includes(name)), []);
  assert.ok(contract.openapi.startsWith('3.1'));
});
