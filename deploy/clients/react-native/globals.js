import { URL, URLSearchParams } from 'react-native/Libraries/Blob/URL'
import FormData from 'react-native/Libraries/Network/FormData'
import XMLHttpRequest from 'react-native/Libraries/Network/XMLHttpRequest'
import WebSocket from 'react-native/Libraries/WebSocket/WebSocket'
import { AbortController, AbortSignal_public as AbortSignal } from './abort.js'

for (
  const name of ['fetch', 'Headers', 'Request', 'Response', 'Blob', 'File', 'crypto', 'structuredClone', 'DOMException']
) {
  delete globalThis[name]
}
Object.assign(globalThis, { URL, URLSearchParams, FormData, XMLHttpRequest, WebSocket, AbortController, AbortSignal })
globalThis.self = globalThis
