import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { View } from 'react-native'
import { useSession } from '../../components/session.tsx'
import { Avatar, Button, Card, Loading, Row, Screen, Text, timeAgo } from '../../components/ui.tsx'

export default function Settings () {
  const tandem = useTandem()
  const router = useRouter()
  const { signOut } = useSession()
  const me = useQuery({
    queryKey: ['me'],
    queryFn: async ({ signal }) => (await tandem.getCurrentUser({ signal })).user
  })
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => (await tandem.listSessions({ signal })).data.sessions
  })
  if (!me.data) {
    return (
      <Screen>
        <Loading of={me} />
      </Screen>
    )
  }
  const { id, name, email, image } = me.data
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
        <Button title='My profile' onPress={() => router.push({ pathname: '/person/[id]', params: { id } })} />
        <Button title='My answers' onPress={() => router.push('/onboarding')} />
        <Button title='Premium' onPress={() => router.push('/paywall')} />
      </Card>
      <Card>
        <Text bold>Where you are signed in</Text>
        {sessions.data?.map((session) => (
          <Text key={session.id} tone='soft'>
            {`${session.deviceName ?? 'A device'} · ${timeAgo(session.lastUsedAt)}`}
          </Text>
        ))}
      </Card>
      <Card>
        <Button title='Sign out' onPress={signOut} />
        <Button title='Delete my account' kind='bad' onPress={() => router.push('/delete-account')} />
      </Card>
    </Screen>
  )
}
