import { useTandem } from '@tandem/react'
import { useState } from 'react'
import { useBack } from '../../components/back.ts'
import { Button, CodeField, Field } from '../../components/controls.tsx'
import { Card, Screen, Text } from '../../components/layout.tsx'
import { useSession } from '../../components/session.tsx'

export default function DeleteAccount () {
  const tandem = useTandem()
  const back = useBack()
  const { deleted } = useSession()
  const [isMailed, setMailed] = useState(false)
  const [secret, setSecret] = useState('')
  const mailCode = async () => {
    await tandem.requestProofCode({ body: { purpose: 'DELETE' } })
    setSecret('')
    setMailed(true)
  }
  const remove = async () => {
    const proven = isMailed ? { code: secret } : { password: secret }
    const { data: { proof } } = await tandem.proveIdentity({ body: { purpose: 'DELETE', ...proven } })
    const { data: { deletion } } = await tandem.deleteAccount({ body: { proof } })
    await deleted(deletion.eraseAt)
  }
  return (
    <Screen title='Delete your account?'>
      <Card>
        <Text>Your posts, messages, logs and matches are erased. You can change your mind for some days.</Text>
        {isMailed ? <CodeField value={secret} onChangeText={setSecret} /> : (
          <>
            <Field
              label='Your password'
              value={secret}
              onChangeText={setSecret}
              secureTextEntry
              autoComplete='current-password'
            />
            <Button title='Email me a code instead' onPress={mailCode} />
          </>
        )}
        <Button title='Keep my account' kind='primary' onPress={back} />
        <Button title='Delete my account' kind='bad' onPress={remove} isDisabled={secret === ''} />
      </Card>
    </Screen>
  )
}
