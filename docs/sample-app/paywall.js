import { useState } from 'preact/hooks'
import { sells, tandem } from './api.js'
import { html, Icon, Loading, useLoad } from './ui.js'

const states = {
  PENDING: 'Your payment is on its way.',
  ACTIVE: 'It is yours',
  GRACE: 'Your last payment failed. Check it at your store, so that you keep it',
  HOLD: 'Your last payment failed. Check it at your store to get it back.',
  PAUSED: 'You have paused it.',
  EXPIRED: 'It has ended.',
  REVOKED: 'It was refunded.'
}

/** What a subscription unlocks, and how to get it. */
export function Paywall ({ onClose }) {
  const loaded = useLoad(async () => {
    const [offer, mine] = await Promise.all([tandem.listSubscriptionPlans(), tandem.getSubscription()])
    return { ...offer.data, subscription: mine.data.subscription }
  })
  const isActive = loaded.data?.subscription?.status === 'ACTIVE'
  return html`
    <div class="match paywall" role="dialog" aria-label="Subscriptions">
      <h1>${isActive ? 'Swipe on' : 'No limits'}</h1>
      ${
    loaded.data
      ? html`<${Offer} ...${loaded.data} onChange=${(subscription) =>
        loaded.change((data) => ({ ...data, subscription }))} />`
      : html`<${Loading} of=${loaded} rows=${2} />`
  }
      <button class="button" onClick=${onClose}>${isActive ? 'Keep swiping' : 'Not now'}</button>
    </div>`
}

function Offer ({ plans, accountToken, subscription, onChange }) {
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)

  const buy = async (store, productId) => {
    setError('')
    setBusy(true)
    try {
      const sent = await buyAtStore({ store, productId, accountToken })
      const { data } = await tandem.addPurchase({ body: { store, ...sent } })
      onChange(data.subscription)
    } catch (error) {
      setError(error.message)
    }
    setBusy(false)
  }
  return html`
    ${
    plans.map(({ planId, unlocks, products: { apple, google } }) =>
      html`<section class="card" key=${planId}>
        <h2>${planId}</h2>
        <ul>${unlocks.map((each) => html`<li><${Icon} name="check" />${each}</li>`)}</ul>
        ${subscription?.planId === planId && html`<${State} ...${subscription} />`}
        ${
        sells && subscription?.status !== 'ACTIVE' && html`<div class="stores">
          ${
          apple[0] &&
          html`<button class="primary" disabled=${isBusy} onClick=${() => buy('APPLE', apple[0])}>App Store</button>`
        }
          ${
          google[0] && html`<button class="primary" disabled=${isBusy} onClick=${() =>
            buy('GOOGLE', google[0])}>Google Play</button>`
        }
        </div>`
      }</section>`
    )
  }
    ${error && html`<p class="error">${error}</p>`}
    <p class="soft">${
    sells ? 'Stand-ins of the stores sell here: nobody pays.' : 'A browser has no store: buy in the app.'
  }</p>`
}

function State ({ state, status, currentPeriodEnd, manageUrl }) {
  const until = status === 'ACTIVE' ? ` until ${new Date(currentPeriodEnd).toLocaleDateString()}.` : ''
  return html`<p class="state">${states[state]}${until}</p>
    ${manageUrl && html`<a href=${manageUrl} target="_blank" rel="noreferrer">Change or cancel at the store</a>`}`
}

/**
 * An app calls StoreKit or Play Billing here, with the account token: the store keeps it with the purchase. It returns the
 * field that `addPurchase` sends.
 */
async function buyAtStore (order) {
  const response = await fetch('/api/stores/buy', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order)
  })
  const { signedTransaction, purchaseToken } = await response.json()
  return signedTransaction ? { signedTransaction } : { purchaseToken }
}
