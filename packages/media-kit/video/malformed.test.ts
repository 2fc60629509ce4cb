import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FastifyError } from '@fastify/error'
import t, { type Test } from 'tap'
import { testVideo } from '../testing.ts'
import { prepareVideo } from './prepare-video.ts'
import { remux } from './remux.ts'

const phone = testVideo()
const silent = testVideo('silent.mp4')

interface Box {
  /** Where its header begins, and where it ends. */
  start: number
  end: number
}

/** The first box with this path, such as `moov/trak/mdia`; `index` chooses among tracks. */
function find (file: Buffer, names: string, track = 0): Box {
  let [start, end] = [0, file.length]
  let box: Box | undefined
  for (const name of names.split('/')) {
    const found: Box[] = []
    for (let at = start; at + 8 <= end;) {
      const size = file.readUInt32BE(at) || end - at
      if (file.toString('latin1', at + 4, at + 8) === name) found.push({ start: at, end: at + size })
      at += Math.max(size, 8)
    }
    box = found[name === 'trak' ? track : 0]
    if (!box) throw new Error(`there is no ${names}`)
    ;[start, end] = [box.start + 8, box.end]
  }
  return box!
}

const changed = (file: Buffer, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(file)
  change(copy)
  return copy
}
/** Sets a number at an offset from the beginning of a box. */
const set = (names: string, offset: number, value: number, file = phone, track = 0) =>
  changed(file, (copy) => void copy.writeUInt32BE(value >>> 0, find(file, names, track).start + offset))
const rename = (names: string, name: string, file = phone) =>
  changed(file, (copy) => void copy.write(name, find(file, names).start + 4, 'latin1'))
const fill = (names: string, value: number, file = phone) =>
  changed(file, (copy) => {
    const { start, end } = find(file, names)
    copy.fill(value, start + 8, end)
  })
const stbl = 'moov/trak/mdia/minf/stbl'
const sampleEntry = find(phone, `${stbl}/stsd`).start + 16
const avcC = phone.indexOf('avcC') - 4
const box = (type: string, content: Buffer) => {
  const header = Buffer.alloc(8)
  header.writeUInt32BE(content.length + 8)
  header.write(type, 4)
  return Buffer.concat([header, content])
}
const nested = (depth: number): Buffer => {
  let inside = Buffer.alloc(0)
  for (let level = 0; level < depth; level++) inside = box('moov', inside)
  return inside
}
const random = (length: number) => {
  let seed = 7
  return Buffer.from(Array.from({ length }, () => (seed = seed * 1_103_515_245 + 12_345 & 0x7fffffff) >> 16 & 0xff))
}

const kinds: Record<string, Buffer> = {
  'an empty file': Buffer.alloc(0),
  'one byte': Buffer.alloc(1),
  'seven bytes': phone.subarray(0, 7),
  'only the type': phone.subarray(0, find(phone, 'ftyp').end),
  'no tables, as while it is recorded': phone.subarray(0, find(phone, 'moov').start),
  'tables cut off': phone.subarray(0, find(phone, 'moov').start + 300),
  'pictures cut off': Buffer.concat([silent.subarray(0, silent.length - 1_000)]),
  'half of the file': phone.subarray(0, phone.length / 2),
  'no pictures': rename('mdat', 'free'),
  'a box of size 1 without a long size': set('mdat', 0, 1, phone.subarray(0, find(phone, 'mdat').start + 8)),
  'a box of size 4': set('mdat', 0, 4),
  'a box larger than the file': set('mdat', 0, 0xffffffff),
  'a long size of 2^63': changed(phone, (copy) => {
    const { start } = find(phone, 'mdat')
    copy.writeUInt32BE(1, start)
    copy.writeBigUInt64BE(2n ** 63n, start + 8)
  }),
  'a track larger than the tables': set('moov/trak', 0, 0x7fffffff),
  'boxes nested 1,000 deep': Buffer.concat([phone.subarray(0, find(phone, 'ftyp').end), nested(1_000)]),
  '30,000 empty boxes': Buffer.concat([phone, ...Array.from({ length: 30_000 }, () => box('free', Buffer.alloc(0)))]),
  'tables of 9 MB': Buffer.concat([phone.subarray(0, 32), box('moov', Buffer.alloc(9 * 1024 * 1024))]),
  'times of 2^32 entries': set(`${stbl}/stts`, 12, 0xffffffff),
  'one time of 2^32 samples': set(`${stbl}/stts`, 16, 0xffffffff),
  'sizes of 2^32 samples': set(`${stbl}/stsz`, 16, 0xffffffff),
  '2^31 samples of one size': changed(phone, (copy) => {
    const { start } = find(phone, `${stbl}/stsz`)
    copy.writeUInt32BE(1, start + 12)
    copy.writeUInt32BE(0x7fffffff, start + 16)
  }),
  'a sample of 4 GB': set(`${stbl}/stsz`, 20, 0xffffffff),
  'samples of no bytes': fill(`${stbl}/stsz`, 0),
  'no samples': changed(phone, (copy) => {
    copy.writeUInt32BE(0, find(phone, `${stbl}/stsz`).start + 16)
    copy.writeUInt32BE(0, find(phone, `${stbl}/stts`).start + 12)
  }),
  'chunks of 2^32 entries': set(`${stbl}/stco`, 12, 0xffffffff),
  'chunks outside of the file': set(`${stbl}/stco`, 16, 0xfffffff0),
  'samples in the header': set(`${stbl}/stco`, 16, 0),
  'chunks of 2^32 samples': set(`${stbl}/stsc`, 20, 0xffffffff),
  'an edit list of 2^27 entries': set('moov/trak/edts/elst', 12, 0x8000000),
  'descriptions of 2^32 entries': set(`${stbl}/stsd`, 12, 0xffffffff),
  'no description': set(`${stbl}/stsd`, 12, 0),
  'a description of 16 EB': set(`${stbl}/stsd`, 16, 0xffffffff),
  'an encrypted picture': changed(phone, (copy) => void copy.write('encv', sampleEntry + 4)),
  'a key system': Buffer.concat([phone, box('pssh', Buffer.alloc(40))]),
  'parameters of zeros': changed(phone, (copy) => void copy.fill(0, avcC + 8, avcC + phone.readUInt32BE(avcC))),
  'parameters that end early': changed(phone, (copy) => void copy.writeUInt16BE(0xffff, avcC + 8 + 6)),
  'another profile': changed(phone, (copy) => void copy.writeUInt8(244, avcC + 8 + 8 + 1)),
  'a picture of 65,535 pixels': changed(phone, (copy) => void copy.writeUInt32BE(0xffffffff, sampleEntry + 32)),
  'no kind of track': rename('moov/trak/mdia/hdlr', 'free'),
  'a track of texts': changed(phone, (copy) => void copy.write('text', find(phone, 'moov/trak/mdia/hdlr').start + 16)),
  'no time scale': set('moov/trak/mdia/mdhd', 20, 0),
  'a duration of years': changed(phone, (copy) => {
    const { start } = find(phone, `${stbl}/stts`)
    copy.writeUInt32BE(0x7fffffff, start + 20)
  }),
  'pictures of zeros': fill('mdat', 0),
  'pictures of ones': fill('mdat', 0xff),
  'noise': random(200_000),
  'noise behind a type': Buffer.concat([phone.subarray(0, 32), random(200_000)]),
  'tables of noise': changed(phone, (copy) => {
    const { start, end } = find(phone, 'moov')
    random(end - start - 8).copy(copy, start + 8)
  }),
  'HTML': Buffer.from('<html><script>alert(1)</script></html>'.repeat(100)),
  'a ZIP': Buffer.concat([Buffer.from('PK\u0003\u0004'), random(1_000)])
}

// Found while they are copied. The copy then stays open until its process ends.
const foundLate = ['chunks outside of the file', 'samples in the header', 'pictures of zeros', 'pictures of ones']
// And what makes the library throw an error of its own, what is long to read, and problems with another status.
const inProcesses = {
  ...Object.fromEntries(foundLate.map((name) => [name, 400])),
  'samples of no bytes': 400,
  '30,000 empty boxes': 400,
  'an encrypted picture': 415,
  'HTML': 415
}

async function temporaryFolder (t: Test) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-malformed-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { folder, source: path.join(folder, 'source'), target: path.join(folder, 'target') }
}

t.test('a malformed file is rejected in less than a second of CPU', async (t) => {
  t.ok(Object.keys(kinds).length >= 40)
  const { source, target } = await temporaryFolder(t)
  const read = async (bytes: Buffer) => {
    await writeFile(source, bytes)
    const before = process.cpuUsage()
    const result = await remux(source, target, { maxSeconds: 60 }).catch((error: unknown) => error)
    const { user, system } = process.cpuUsage(before)
    return { result, usedMs: (user + system) / 1_000 }
  }
  t.match((await read(phone)).result, { width: Number })
  for (const [name, bytes] of Object.entries(kinds).filter(([name]) => !foundLate.includes(name))) {
    const { result, usedMs } = await read(bytes)
    t.ok(result instanceof Error, `${name}: ${JSON.stringify(result)}`)
    t.ok(usedMs < 1_000, `${name}: ${usedMs.toFixed()} ms`)
  }
})

t.test('a malformed upload is refused, and leaves no other file than its copy', async (t) => {
  const { folder, source, target } = await temporaryFolder(t)
  for (const [name, status] of Object.entries(inProcesses)) {
    await writeFile(source, kinds[name]!)
    const error: unknown = await prepareVideo(source, target, { accountId: 'mallory', maxSeconds: 60 })
      .catch((error: unknown) => error)
    await rm(target, { force: true })
    t.ok(error instanceof FastifyError, name)
    t.match(error, { statusCode: status }, name)
  }
  t.same(await readdir(folder), ['source'])
})
