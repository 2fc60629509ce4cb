import { useLocalSearchParams, useRouter } from 'expo-router'
import { useState } from 'react'
import { View } from 'react-native'
import { useApi } from '../components/api.ts'
import { useSession } from '../components/session.tsx'
import { Button, Card, Field, Screen, Text } from '../components/ui.tsx'

type Step = 'signIn' | 'register' | 'verify'

export default function SignIn () {
  const tandem = useApi()
  const { signedIn } = useSession()
  const router = useRouter()
  const { email: given } = useLocalSearchParams<{ email?: string }>()
  const [step, setStep] = useState<Step>('signIn')
  const [name, setName] = useState('')
  const [email, setEmail] = useState(given ?? '')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [userId, setUserId] = useState('')

  const signIn = async () => {
    await tandem.signIn({ body: { email, password, deviceName: 'Example app' } })
    signedIn()
  }
  const register = async () => {
    const { user } = await tandem.register({ body: { name, email, password } })
    setUserId(user.id)
    setStep('verify')
  }
  const verify = async () => {
    await tandem.verifyEmail({ body: { userId, code } })
    signedIn()
    router.replace('/onboarding')
  }
  const emailField = (
    <Field
      label='Email'
      value={email}
      onChangeText={setEmail}
      autoComplete='email'
      autoCapitalize='none'
      inputMode='email'
    />
  )
  const passwordField = (
    <Field
      label='Password'
      value={password}
      onChangeText={setPassword}
      secureTextEntry
      autoComplete={step === 'signIn' ? 'current-password' : 'new-password'}
    />
  )
  return (
    <Screen>
      <View style={{ paddingVertical: 40, gap: 6, alignItems: 'center' }}>
        <Text size={36} bold role='heading'>Better together.</Text>
        <Text tone='soft' style={{ textAlign: 'center' }}>Train, share, and find the person to do it with.</Text>
      </View>
      {step === 'signIn' && (
        <Card>
          {emailField}
          {passwordField}
          <Button title='Sign in' kind='primary' onPress={signIn} isDisabled={email === '' || password === ''} />
          <Button title='Create an account' onPress={() => setStep('register')} />
        </Card>
      )}
      {step === 'register' && (
        <Card>
          <Field label='Name' value={name} onChangeText={setName} autoComplete='name' />
          {emailField}
          {passwordField}
          <Text tone='soft' size={14}>Your name is what others see.</Text>
          <Button
            title='Create account'
            kind='primary'
            onPress={register}
            isDisabled={name.trim().length < 2 || email === '' || password === ''}
          />
          <Button title='I have an account' onPress={() => setStep('signIn')} />
        </Card>
      )}
      {step === 'verify' && (
        <Card>
          <Text>{`We have sent a code to ${email}.`}</Text>
          <Field
            label='Code from the email'
            value={code}
            onChangeText={setCode}
            inputMode='numeric'
            autoComplete='one-time-code'
            maxLength={6}
          />
          <Button title='Continue' kind='primary' onPress={verify} isDisabled={code.length !== 6} />
        </Card>
      )}
    </Screen>
  )
}
