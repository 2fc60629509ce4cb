import { useTandem } from '@tandem/react'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { Button, Field } from '../../components/controls.tsx'
import { Card, Screen, Text } from '../../components/layout.tsx'
import { useSession } from '../../components/session.tsx'

export default function DeleteAccount () {
  const tandem = useTandem()
  const router = useRouter()
  const { signOut } = useSession()
  const [password, setPassword] = useState('')
  const [eraseAt, setEraseAt] = useState<string>()
  const remove = async () => {
    const { data: { proof } } = await tandem.proveIdentity({ body: { purpose: 'DELETE', password } })
    const { data: { deletion } } = await tandem.deleteAccount({ body: { proof } })
    setEraseAt(deletion.eraseAt)
  }
  if (eraseAt !== undefined) {
    return (
      <Screen title='Your account is hidden now'>
        <Card>
          <Text>
            {`Everything is erased on ${new Date(eraseAt).toLocaleDateString()}. Sign in before then to keep it.`}
          </Text>
          <Button title='Done' kind='primary' onPress={signOut} />
        </Card>
      </Screen>
    )
  }
  return (
    <Screen title='Delete your account?'>
      <Card>
        <Text>Your posts, messages, logs and matches are erased. You can change your mind for some days.</Text>
        <Field
          label='Your password'
          value={password}
          onChangeText={setPassword}
          secureTextEntry
          autoComplete='current-password'
        />
        <Button title='Keep my account' kind='primary' onPress={() => router.back()} />
        <Button title='Delete my account' kind='bad' onPress={remove} isDisabled={password === ''} />
      </Card>
    </Screen>
  )
}
