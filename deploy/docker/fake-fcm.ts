// The provider of pushes in the smoke test: writes its service account into a folder, and prints the token of each push.
import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { startFakeFcm } from '../../services/notification/test/fake-fcm.ts'

const [host = '', folder = ''] = process.argv.slice(2)
const { file, onSend } = await startFakeFcm({ host, port: 8090 })
onSend(({ token }) => console.log(`push to ${token}`))
await copyFile(file, path.join(folder, path.basename(file)))
