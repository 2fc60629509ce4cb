import { tandem } from './api.js'
import { html, Icon, Loading, useLoad } from './ui.js'

const states = {
  PENDING: 'Your payment is on its way.',
  ACTIVE: 'You have it.',
  GRACE: 'Your payment failed. Check it at your store.',
  HOLD: 'Your payment failed. Check it at your store.',
  PAUSED: 'It is paused.',
  EXPIRED: 'It has ended.',
  REVOKED: 'It was refunded.'
}

/** What a subscription unlocks, and how to get it. An app calls its store here, with the account token. */
export function Paywall ({ onClose }) {
  const loaded = useLoad(async () => {
    const [offer, mine] = await Promise.all([tandem.listSubscriptionPlans(), tandem.getSubscription()])
    return { ...offer.data, subscription: mine.data.subscription }
  })
  return html`
    <div class="match paywall" role="dialog" aria-label="Subscriptions">
      ${
    loaded.data
      ? html`<${Offer} ...${loaded.data} onReload=${loaded.reload} />`
      : html`<${Loading} of=${loaded} rows=${2} />`
  }
      <button class="button" onClick=${onClose}>${
    loaded.data?.subscription?.status === 'ACTIVE' ? 'Keep swiping' : 'Not now'
  }</button>
    </div>`
}

function Offer ({ plans, accountToken, subscription, onReload }) {
  const [product] = plans.flatMap(({ products }) => products.apple)
  return html`
    <h1>Swipe on today</h1>
    ${subscription && html`<p>${subscription.planId}: ${states[subscription.state]}</p>`}
    ${
    subscription?.manageUrl &&
    html`<a class="button" href=${subscription.manageUrl} target="_blank" rel="noreferrer">Manage at the store</a>`
  }
    ${
    plans.map(({ planId, unlocks }) =>
      html`<section class="card" key=${planId}><h2>${planId}</h2>
        <ul>${unlocks.map((each) => html`<li><${Icon} name="check" /> ${each}</li>`)}</ul></section>`
    )
  }
    <p class="soft">A browser has no store. On this machine, a stand-in sells to you:</p>
    <code>${
    product
      ? `curl 127.0.0.1:9700/buy --json '{"store": "APPLE", "productId": "${product}", "accountToken": "${accountToken}"}'`
      : 'No plan has a product: set SUBSCRIPTION_PLANS.'
  }</code>
    <button class="primary" onClick=${onReload}>I have paid</button>`
}
