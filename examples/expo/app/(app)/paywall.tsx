import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { Linking } from 'react-native'
import { Button, Card, Loading, Screen, Text } from '../../components/ui.tsx'

const states = {
  PENDING: 'Your payment is on its way.',
  ACTIVE: 'You have it.',
  GRACE: 'Your payment failed. Check it at your store.',
  HOLD: 'Your payment failed. Check it at your store.',
  PAUSED: 'It is paused.',
  EXPIRED: 'It has ended.',
  REVOKED: 'It was refunded.'
}

export default function Paywall () {
  const tandem = useTandem()
  const router = useRouter()
  const query = useQuery({
    queryKey: ['subscription'],
    queryFn: async () => {
      const [offer, mine] = await Promise.all([tandem.listSubscriptionPlans(), tandem.getSubscription()])
      return { plans: offer.data.plans, subscription: mine.data.subscription }
    }
  })
  if (!query.data) {
    return (
      <Screen>
        <Loading of={query} />
      </Screen>
    )
  }
  const { plans, subscription } = query.data
  const manageUrl = subscription?.manageUrl
  return (
    <Screen>
      <Text size={26} bold role='heading'>Go further together</Text>
      {subscription && <Text>{`${subscription.planId}: ${states[subscription.state]}`}</Text>}
      {manageUrl != null && (
        <Button
          title='Manage at the store'
          onPress={async () => await Linking.openURL(manageUrl)}
        />
      )}
      {plans.map(({ planId, unlocks }) => (
        <Card key={planId}>
          <Text bold size={18}>{planId}</Text>
          {unlocks.map((each) => <Text key={each}>{`✓ ${each}`}</Text>)}
        </Card>
      ))}
      {plans.length === 0 && <Text tone='soft'>This server sells no plan yet.</Text>}
      <Text tone='soft' size={14}>
        Buy in your store here, and send the purchase with addPurchase. docs/subscriptions.md shows how.
      </Text>
      <Button title='I have paid' kind='primary' onPress={async () => await query.refetch()} />
      <Button title='Not now' onPress={() => router.back()} />
    </Screen>
  )
}
