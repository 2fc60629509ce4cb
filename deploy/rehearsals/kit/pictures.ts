import { randomFillSync } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, deflate } from 'node:zlib'

const compress = promisify(deflate)

export interface Upload {
  body: Buffer<ArrayBuffer>
  headers: Record<string, string>
}

/** A multipart form with an image in one field. */
export function pictureForm (png: Buffer, field = 'file'): Upload {
  const boundary = 'a-boundary-that-is-in-no-picture'
  const disposition = `content-disposition: form-data; name="${field}"; filename="picture.png"`
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([
      Buffer.from(`--${boundary}\r\n${disposition}\r\ncontent-type: image/png\r\n\r\n`),
      png,
      Buffer.from(`\r\n--${boundary}--\r\n`)
    ])
  }
}

/** A PNG in one colour: small to upload, and large to decode. */
export async function plainPng ({ width, height, bits }: { width: number, height: number, bits: 8 | 16 }) {
  // RGBA, and a filter byte before each row.
  return await png(width, height, bits, Buffer.alloc((1 + width * bits / 2) * height))
}

/** A PNG of soft shapes with the noise of a camera: costs about as much to re-encode as a photo. */
export async function softPng (width: number, height: number) {
  const rowBytes = 1 + width * 4
  const rows = randomFillSync(Buffer.alloc(rowBytes * height))
  for (let row = 0; row < height; row++) {
    rows[row * rowBytes] = 0
    for (let column = 0; column < width; column++) {
      for (const channel of [0, 1, 2]) {
        const at = row * rowBytes + 1 + column * 4 + channel
        const shape = Math.sin((column + 40 * channel) / 90) * Math.cos(row / (70 + 20 * channel))
        rows[at] = 120 + 100 * shape + rows[at]! % 8
      }
      rows[row * rowBytes + 4 + column * 4] = 255
    }
  }
  return await png(width, height, 8, rows)
}

/** A PNG of random pixels, which does not compress: as large as a photo. */
export async function noisyPng (width: number, height: number) {
  const rowBytes = 1 + width * 4
  const rows = randomFillSync(Buffer.alloc(rowBytes * height))
  // The first byte of a row is its filter; 0 is none.
  for (let row = 0; row < height; row++) rows[row * rowBytes] = 0
  return await png(width, height, 8, rows)
}

async function png (width: number, height: number, bits: 8 | 16, rows: Buffer) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = bits
  header[9] = 6 // RGBA
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', await compress(rows)),
    chunk('IEND', Buffer.alloc(0))
  ])
}

function chunk (type: string, data: Buffer) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
