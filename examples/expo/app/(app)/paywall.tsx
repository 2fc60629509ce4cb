import { useTandem } from '@tandem/react'
import type { StoreSubscription, SubscriptionPlan } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { Linking } from 'react-native'
import { useBack } from '../../components/back.ts'
import { Button } from '../../components/controls.tsx'
import { buyAtStore, useDemoStores } from '../../components/demo.ts'
import { titleOf, useFormat } from '../../components/format.ts'
import { Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { Empty, Loading } from '../../components/states.tsx'

const states: Record<StoreSubscription['state'], string> = {
  PENDING: 'Your payment is on its way.',
  ACTIVE: 'It is yours',
  GRACE: 'Your last payment failed. Check it at your store, so that you keep it',
  HOLD: 'Your last payment failed. Check it at your store to get it back.',
  PAUSED: 'You have paused it.',
  EXPIRED: 'It has ended.',
  REVOKED: 'It was refunded.'
}

/** What a subscription unlocks, and how to get it. */
export default function Paywall () {
  const tandem = useTandem()
  const back = useBack()
  const isSoldHere = useDemoStores()
  const query = useQuery({
    queryKey: ['subscription'],
    queryFn: async () => {
      const [offer, mine] = await Promise.all([tandem.listSubscriptionPlans(), tandem.getSubscription()])
      return { ...offer.data, subscription: mine.data.subscription }
    }
  })
  if (!query.data) {
    return (
      <Screen>
        <Loading of={query} />
      </Screen>
    )
  }
  const { plans, accountToken, subscription } = query.data
  return (
    <Screen>
      <Text size={26} bold role='heading'>Go further together</Text>
      {subscription && <State subscription={subscription} />}
      {plans.length === 0 && <Empty icon='star-outline' title='Nothing to buy'>This server sells no plan yet.</Empty>}
      {plans.map((plan) => (
        <Section key={plan.planId} title={titleOf(plan.planId)}>
          {plan.unlocks.map((each) => <Text key={each}>{`✓ ${each}`}</Text>)}
          {isSoldHere && subscription?.status !== 'ACTIVE' && <Stores plan={plan} accountToken={accountToken} />}
        </Section>
      ))}
      <Text tone='soft' size={14}>
        {isSoldHere
          ? 'Stand-ins of the stores sell here: nobody pays.'
          : 'An app calls the store of the phone here. A browser has none.'}
      </Text>
      <Button title={subscription?.status === 'ACTIVE' ? 'Done' : 'Not now'} onPress={back} />
    </Screen>
  )
}

function State (
  { subscription: { planId, state, status, currentPeriodEnd, manageUrl } }: { subscription: StoreSubscription }
) {
  const format = useFormat()
  const until = status === 'ACTIVE' ? ` until ${format.date(currentPeriodEnd)}.` : ''
  return (
    <Section title={`Your ${titleOf(planId)}`}>
      <Text>{`${states[state]}${until}`}</Text>
      {manageUrl !== null && (
        <Button
          title='Change or cancel at the store'
          onPress={async () => await Linking.openURL(manageUrl)}
        />
      )}
    </Section>
  )
}

const stores = [['APPLE', 'apple', 'App Store'], ['GOOGLE', 'google', 'Google Play']] as const

function Stores ({ plan: { products }, accountToken }: { plan: SubscriptionPlan, accountToken: string }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const buy = async (store: 'APPLE' | 'GOOGLE', productId: string) => {
    const sent = await buyAtStore({ store, productId, accountToken })
    await tandem.addPurchase({ body: { store, ...sent } })
    await refresh(['subscription'], ['discover'])
  }
  return stores.map(([store, name, title]) => {
    const [productId] = products[name]
    return productId !== undefined && (
      <Button
        key={store}
        title={title}
        kind='primary'
        onPress={async () => await buy(store, productId)}
      />
    )
  })
}
