// It declares a package, so there is nothing to import from it; other packages that use this file would not find it.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="jsrsasign.d.ts" />
import { generateKeyPairSync, sign } from 'node:crypto'
import jsrsasign from 'jsrsasign'

const { x509, ocsp } = jsrsasign.KJUR.asn1

const LEAF_OID = '1.2.840.113635.100.6.11.1'
const INTERMEDIATE_OID = '1.2.840.113635.100.6.2.1'
const NULL_HEX = '0500'
const SIGNATURE_ALGORITHM = 'SHA256withECDSA'

export interface Certificate {
  pem: string
  /** Base64 of the DER, as `x5c` has it. */
  base64: string
  privateKey: string
}

interface Request {
  name: string
  issuer?: { name: string, certificate: Certificate }
  ext?: object[]
  validUntil?: Date
}

let serial = 1

/** By Node, in a thousandth of the time that jsrsasign takes. */
const signatureOf = (signed: { getEncodedHex(): string }, privateKey: string) =>
  sign('sha256', Buffer.from(signed.getEncodedHex(), 'hex'), privateKey).toString('hex')

/** A certificate on P-256; without an issuer it signs itself. */
function createCertificate ({ name, issuer, ext = [], validUntil = inYears(5) }: Request): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' }
  })
  const tbsobj = new x509.TBSCertificate({
    version: 3,
    serial: { int: ++serial },
    issuer: { str: `/CN=${issuer?.name ?? name}` },
    subject: { str: `/CN=${name}` },
    notbefore: toTime(inYears(-1)),
    notafter: toTime(validUntil),
    sbjpubkey: publicKey,
    ext,
    sigalg: SIGNATURE_ALGORITHM
  })
  const sighex = signatureOf(tbsobj, issuer?.certificate.privateKey ?? privateKey)
  const pem = new x509.Certificate({ tbsobj, sighex, sigalg: SIGNATURE_ALGORITHM }).getPEM()
  return { pem, base64: pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), privateKey }
}

const inYears = (years: number) => new Date(Date.now() + years * 365 * 24 * 60 * 60 * 1_000)
/** `YYMMDDhhmmssZ`, or with the whole year. */
const toTime = (date: Date, yearDigits: 2 | 4 = 2) =>
  `${date.toISOString().slice(4 - yearDigits, 19).replaceAll(/[-T:]/g, '')}Z`

interface ChainOptions {
  ocspUrl: string
  /** What the leaf lacks or is, for forgeries. */
  hasLeafOid?: boolean
  leafValidUntil?: Date
  /** Signs the intermediate instead of a new root. */
  root?: Certificate
}

export type Chain = ReturnType<typeof createChain>

/** A root, an intermediate and a leaf like those of the App Store, and who answers for them by OCSP. */
export function createChain ({ ocspUrl, hasLeafOid = true, leafValidUntil, root: given }: ChainOptions) {
  const ca = { extname: 'basicConstraints', cA: true, critical: true }
  const byOcsp = { extname: 'authorityInfoAccess', array: [{ ocsp: ocspUrl }] }
  const root = given ?? createCertificate({ name: 'Stand-in Root', ext: [ca] })
  const byRoot = { name: 'Stand-in Root', certificate: root }
  const intermediate = createCertificate({
    name: 'Stand-in Intermediate',
    issuer: byRoot,
    ext: [ca, byOcsp, { extname: INTERMEDIATE_OID, extn: NULL_HEX }]
  })
  const byIntermediate = { name: 'Stand-in Intermediate', certificate: intermediate }
  const leaf = createCertificate({
    name: 'Stand-in Leaf',
    issuer: byIntermediate,
    ext: [byOcsp, ...(hasLeafOid ? [{ extname: LEAF_OID, extn: NULL_HEX }] : [])],
    ...(leafValidUntil && { validUntil: leafValidUntil })
  })
  const responder = (issuer: typeof byRoot) =>
    createCertificate({ name: 'Stand-in OCSP', issuer, ext: [{ extname: 'extKeyUsage', array: ['ocspSigning'] }] })
  return {
    root,
    intermediate,
    leaf,
    responders: new Map([[intermediate, { issuer: root, responder: responder(byRoot) }], [
      leaf,
      { issuer: intermediate, responder: responder(byIntermediate) }
    ]])
  }
}

/** Answers an OCSP request about a certificate of `chains`; undefined for any other. */
export function answerOcsp (chains: Chain[], request: Buffer, revoked: Set<Certificate>): Buffer | undefined {
  const [asked] = new ocsp.OCSPParser().getOCSPRequest(request.toString('hex')).array
  if (!asked) return
  for (const { responders } of chains) {
    for (const [certificate, { issuer, responder }] of responders) {
      const id = new ocsp.CertID().getParamByCerts(issuer.pem, certificate.pem, 'sha256')
      if (id.issname !== asked.issname || id.isskey !== asked.isskey || id.sbjsn !== asked.sbjsn) continue
      const tbsresp = new ocsp.ResponseData({
        respid: { name: responder.pem },
        prodat: toTime(new Date(), 4),
        array: [{
          certid: { issuerCert: issuer.pem, subjectCert: certificate.pem, alg: 'sha256' },
          status: revoked.has(certificate)
            ? { status: 'revoked', time: toTime(inYears(-0.1), 4) }
            : { status: 'good' },
          thisupdate: toTime(new Date(Date.now() - 60_000), 4),
          nextupdate: toTime(inYears(1), 4)
        }]
      })
      const response = new ocsp.OCSPResponse({
        resstatus: 'successful',
        restype: 'ocspBasic',
        tbsresp,
        sigalg: SIGNATURE_ALGORITHM,
        sighex: signatureOf(tbsresp, responder.privateKey),
        certs: [responder.pem]
      })
      return Buffer.from(response.getEncodedHex(), 'hex')
    }
  }
  return undefined
}
