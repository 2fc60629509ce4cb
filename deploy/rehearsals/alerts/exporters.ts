import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { connect, createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import type { Teardown } from '@tandem/test-kit'

const run = promisify(execFile)

/**
 * What exporters measure in production: the file that backup.sh writes, which node_exporter serves, and the end of the
 * certificate of a TLS server, for which blackbox_exporter connects to it.
 */
export async function startExporters (t: Teardown, folder: string) {
  const backupFile = path.join(folder, 'backup.prom')
  const tls = createTlsServer()
  tls.on('tlsClientError', () => {})
  tls.listen(0, '127.0.0.1')
  await once(tls, 'listening')
  t.teardown(() => tls.close())

  async function readExpiry () {
    const socket = connect({ ...tls.address() as AddressInfo, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { valid_to: end } = socket.getPeerCertificate()
    socket.destroy()
    return `probe_ssl_earliest_cert_expiry ${Date.parse(end) / 1_000}\n`
  }
  const pages: Record<string, () => Promise<string>> = {
    '/node': async () => await readFile(backupFile, 'utf8'),
    '/blackbox': readExpiry
  }
  const server = createServer((request, response) => {
    const page = pages[request.url ?? '']
    if (!page) return response.writeHead(404).end()
    page().then(
      (text) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
      () => response.writeHead(500).end()
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const exporters = {
    targets: new Map([['node', `${url}/node`], ['blackbox', `${url}/blackbox`]]),
    async setBackupAge (seconds: number) {
      const at = Math.floor(Date.now() / 1_000) - seconds
      await writeFile(backupFile, `tandem_backup_last_success_timestamp_seconds ${at}\n`)
    },
    async setCertificate ({ days }: { days: number }) {
      const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')]
      const args = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -days ${days}`
      await run('openssl', [...args.split(' '), '-keyout', key, '-out', cert])
      tls.setSecureContext({ key: await readFile(key), cert: await readFile(cert) })
    }
  }
  await exporters.setBackupAge(0)
  await exporters.setCertificate({ days: 90 })
  return exporters
}
