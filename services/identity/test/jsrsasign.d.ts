/** The part of jsrsasign that tests use. The published types are of an older version, and lack OCSP. */
declare module 'jsrsasign' {
  interface CertificateId {
    issname: string
    isskey: string
    sbjsn: string
  }

  const jsrsasign: {
    KEYUTIL: { getKey(pem: string): object },
    KJUR: {
      asn1: {
        x509: { Certificate: new(parameters: object) => { getPEM(): string } },
        ocsp: {
          CertID: new() => { getParamByCerts(issuer: string, subject: string, algorithm: string): CertificateId },
          OCSPParser: new() => { getOCSPRequest(hex: string): { array: CertificateId[] } },
          OCSPResponse: new(parameters: object) => { getEncodedHex(): string }
        }
      }
    }
  }
  export default jsrsasign
}
