import { createTandem, storageIn } from '@tandem/sdk'

// The server of this page knows where the gateway is.
const { gateway } = await (await fetch('/config.json')).json()

export const tandem = createTandem({
  url: gateway,
  storage: storageIn(localStorage),
  language: 'en',
  onSignedOut: () => location.reload()
})
