import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Platform, Share, View } from 'react-native'
import { Button } from '../../components/controls.tsx'
import { useFormat } from '../../components/format.ts'
import { Row, Screen, Section, Text } from '../../components/layout.tsx'
import { Loading } from '../../components/states.tsx'

/** The code that friends enter when they register, and what came of it. */
export default function Invite () {
  const tandem = useTandem()
  const format = useFormat()
  const [isCopied, setCopied] = useState(false)
  const query = useQuery({
    queryKey: ['referrals'],
    queryFn: async ({ signal }) => (await tandem.getReferrals({ signal })).data
  })
  if (!query.data) {
    return (
      <Screen>
        <Loading of={query} />
      </Screen>
    )
  }
  const { code, shareUrl, verifiedCount, rewardDays, redemptions } = query.data
  // Over plain HTTP at an address other than localhost, browsers have no clipboard. The link can be selected.
  const canShare = Platform.OS !== 'web' || 'clipboard' in navigator
  const share = async () => {
    if (Platform.OS !== 'web') return await Share.share({ message: shareUrl })
    await navigator.clipboard.writeText(shareUrl)
    setCopied(true)
  }
  return (
    <Screen>
      <Section title='Invite a friend'>
        <Text>Both of you get days of premium when they register with your code and verify their address.</Text>
        <Text size={30} bold selectable style={{ letterSpacing: 4, textAlign: 'center' }}>{code}</Text>
        <Text tone='soft' size={14} selectable style={{ textAlign: 'center' }}>{shareUrl}</Text>
        {canShare && (
          <Button
            title={isCopied ? 'Copied' : Platform.OS === 'web' ? 'Copy the link' : 'Share the link'}
            kind='primary'
            onPress={share}
          />
        )}
      </Section>
      <Section title='Who joined'>
        <Text tone='soft'>
          {verifiedCount > 0 ? `${verifiedCount} joined · ${rewardDays} days of premium` : 'Nobody yet.'}
        </Text>
        {redemptions.map(({ name, isVerified, joinedAt }) => (
          <Row key={joinedAt}>
            <View style={{ flex: 1 }}>
              <Text bold>{name ?? 'Somebody who has left'}</Text>
              <Text tone='soft' size={14}>{format.date(joinedAt)}</Text>
            </View>
            <Text tone='soft' size={14}>{isVerified ? 'Joined' : 'Not verified yet'}</Text>
          </Row>
        ))}
      </Section>
    </Screen>
  )
}
