import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Linking, View } from 'react-native'
import { setLanguage, useApp, useFeature } from '../../components/api.ts'
import { useAttempt } from '../../components/attempt.ts'
import { Button, CodeField, IconButton, Segments } from '../../components/controls.tsx'
import { timeAgo } from '../../components/format.ts'
import { Avatar, Card, ErrorText, OpenRow, Row, Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { useSession } from '../../components/session.tsx'
import { Loading } from '../../components/states.tsx'

export default function Settings () {
  const tandem = useTandem()
  const router = useRouter()
  const { signOut } = useSession()
  const hasFitMatch = useFeature('fitmatch')
  const me = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await tandem.getCurrentUser({ signal })).user
  })
  if (!me.data) {
    return (
      <Screen>
        <Loading of={me} />
      </Screen>
    )
  }
  const { id, name, email, image, emailVerified } = me.data
  return (
    <Screen>
      <Card>
        <Row>
          <Avatar name={name} image={image} size={56} />
          <View style={{ flex: 1 }}>
            <Text bold>{name}</Text>
            <Text tone='soft' size={14}>{email}</Text>
          </View>
        </Row>
        <OpenRow icon='person-outline' title='My profile' href={{ pathname: '/person/[id]', params: { id } }} />
        <OpenRow icon='list-outline' title='My answers' href='/onboarding' />
        {hasFitMatch && <OpenRow icon='location-outline' title='Gyms' href='/gyms' />}
        <OpenRow icon='shield-checkmark-outline' title='Safety' href='/safety' />
        <OpenRow icon='star-outline' title='Premium' href='/paywall' />
        <OpenRow icon='gift-outline' title='Invite a friend' href='/invite' />
      </Card>
      {!emailVerified && <VerifyEmail userId={id} email={email} />}
      <Languages />
      <Sessions />
      <About />
      <Card>
        <Button title='Sign out' onPress={signOut} />
        <Button title='Delete my account' kind='bad' onPress={() => router.push('/delete-account')} />
      </Card>
    </Screen>
  )
}

/** For who has left the app before they entered the code of their registration. */
function VerifyEmail ({ userId, email }: { userId: string, email: string }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const [code, setCode] = useState('')
  const verify = async () => {
    await tandem.verifyEmail({ body: { userId, code } })
    await refresh(['me'])
  }
  return (
    <Section title='Verify your email address'>
      <Text tone='soft'>{`We have sent a code to ${email}.`}</Text>
      <CodeField value={code} onChangeText={setCode} />
      <Button title='Verify' kind='primary' onPress={verify} isDisabled={code.length !== 6} />
      <Button
        title='Send another code'
        onPress={async () => await tandem.resendVerification({ body: { email } })}
      />
    </Section>
  )
}

/** The languages of the brand: of errors, notifications, mails and lists. */
function Languages () {
  const tandem = useTandem()
  const { brand, language } = useApp()
  const names = Object.fromEntries(
    brand.locales.map((each) => [each, new Intl.DisplayNames([each], { type: 'language' }).of(each) ?? each])
  )
  const { attempt, error } = useAttempt()
  const choose = async (locale: string) => {
    await tandem.updateProfile({ body: { locale } })
    await setLanguage(locale)
  }
  return (
    <Section title='Language'>
      <Segments
        options={names}
        value={language}
        onChange={(locale) => void attempt(async () => await choose(locale))}
      />
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </Section>
  )
}

function Sessions () {
  const tandem = useTandem()
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => (await tandem.listSessions({ signal })).data.sessions
  })
  const { attempt, error } = useAttempt()
  const end = async (sessionId: string) => {
    await tandem.revokeSessions({ body: { action: 'revoke_session', sessionId } })
    await sessions.refetch()
  }
  return (
    <Section title='Where you are signed in'>
      {!sessions.data && <Loading of={sessions} />}
      {sessions.data?.map(({ id, deviceName, isCurrent, lastUsedAt }) => (
        <Row key={id} style={{ justifyContent: 'space-between' }}>
          <Text tone='soft' style={{ flexShrink: 1 }}>
            {`${deviceName ?? 'A device'} · ${isCurrent ? 'this device' : timeAgo(lastUsedAt)}`}
          </Text>
          {!isCurrent && (
            <IconButton
              icon='log-out-outline'
              label={`Sign out ${deviceName ?? 'A device'}`}
              onPress={() =>
                void attempt(async () => await end(id))}
            />
          )}
        </Row>
      ))}
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </Section>
  )
}

const titles: Record<string, string> = { website: 'Website', terms: 'Terms', privacy: 'Privacy' }

function About () {
  const { brand } = useApp()
  return (
    <Section title={brand.name}>
      <Button title='Write to us' onPress={async () => await Linking.openURL(`mailto:${brand.supportEmail}`)} />
      {Object.entries(brand.links).map(([name, url]) => {
        const title = titles[name]
        if (title === undefined || typeof url !== 'string') return null
        return <Button key={name} title={title} onPress={async () => await Linking.openURL(url)} />
      })}
    </Section>
  )
}
