import { createTandem, storageIn } from '@tandem/sdk'

// The server of this page knows where the gateway is, and whether a stand-in of the stores sells here.
export const { gateway, sells } = await (await fetch('/config.json')).json()

export const tandem = createTandem({
  url: gateway,
  storage: storageIn(localStorage),
  language: 'en',
  onSignedOut: () => location.reload()
})
