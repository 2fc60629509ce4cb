import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

// A virtual authenticator: what a browser and a security key do together.

const encodeLength = (type: number, length: number) =>
  length < 24
    ? Buffer.from([type << 5 | length])
    : length < 256
    ? Buffer.from([type << 5 | 24, length])
    : Buffer.from([type << 5 | 25, length >> 8, length & 255])

/** CBOR of the few types that passkeys need. */
function encode (value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  if (typeof value === 'number') return value >= 0 ? encodeLength(0, value) : encodeLength(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([encodeLength(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([encodeLength(2, value.length), value])
  const entries = [...value].flatMap(([key, item]) => [encode(key), encode(item as string)])
  return Buffer.concat([encodeLength(5, value.size), ...entries])
}

interface Options {
  origin: string
  host: string
  /** Whether the person used a fingerprint, a face or a PIN. */
  verifies?: boolean
}

export function createPasskey ({ origin, host, verifies = true }: Options) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  let counter = 0
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const authenticatorData = (attested: Buffer) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(++counter)
    const flags = 1 | (verifies ? 4 : 0) | (attested.length > 0 ? 64 : 0)
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags]), count, attested])
  }
  const common = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' }

  return {
    /** `navigator.credentials.create` */
    create ({ challenge }: { challenge: string }) {
      const coordinate = (text: string) => Buffer.from(text, 'base64url')
      const key = encode(new Map<number, unknown>([[1, 2], [3, -7], [-1, 1], [-2, coordinate(x)], [-3, coordinate(y)]]))
      const data = authenticatorData(Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]))
      const attestation = encode(
        new Map<string, unknown>([['fmt', 'none'], ['attStmt', new Map()], ['authData', data]])
      )
      return {
        ...common,
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal']
        }
      }
    },
    /** `navigator.credentials.get` */
    get ({ challenge }: { challenge: string }) {
      const data = authenticatorData(Buffer.alloc(0))
      const client = clientData('webauthn.get', challenge)
      const signature = sign(
        'sha256',
        Buffer.concat([data, createHash('sha256').update(client).digest()]),
        privateKey
      )
      return {
        ...common,
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url')
        }
      }
    }
  }
}
