/** The part of jsrsasign that tests use. The published types are of an older version, and lack OCSP. */
declare module 'jsrsasign' {
  interface CertificateId {
    issname: string
    isskey: string
    sbjsn: string
  }

  interface Encodable {
    getEncodedHex(): string
  }

  const jsrsasign: {
    KJUR: {
      asn1: {
        x509: {
          TBSCertificate: new(parameters: object) => Encodable,
          Certificate: new(parameters: object) => { getPEM(): string }
        },
        ocsp: {
          CertID: new() => { getParamByCerts(issuer: string, subject: string, algorithm: string): CertificateId },
          OCSPParser: new() => { getOCSPRequest(hex: string): { array: CertificateId[] } },
          ResponseData: new(parameters: object) => Encodable,
          OCSPResponse: new(parameters: object) => Encodable
        }
      }
    }
  }
  export default jsrsasign
}
