import { useLocalSearchParams, useRouter } from 'expo-router'
import { useState } from 'react'
import { View } from 'react-native'
import { useApp } from '../components/api.ts'
import { Button, Field } from '../components/controls.tsx'
import { useDemoAccounts } from '../components/demo.ts'
import { Card, Row, Screen, Text } from '../components/layout.tsx'
import { useSession } from '../components/session.tsx'

type Step = 'signIn' | 'register' | 'verify'

const deviceName = 'Sample app'

export default function SignIn () {
  const { tandem, brand } = useApp()
  const { signedIn } = useSession()
  const router = useRouter()
  const { email: given = '', code: invitation = '' } = useLocalSearchParams<{ email?: string, code?: string }>()
  const [step, setStep] = useState<Step>(invitation === '' ? 'signIn' : 'register')
  const [email, setEmail] = useState(given)
  const [password, setPassword] = useState('')
  const [userId, setUserId] = useState('')

  const signIn = async (body = { email, password }) => {
    await tandem.signIn({ body: { ...body, deviceName } })
    signedIn()
  }
  const register = async (name: string, referralCode: string) => {
    const { user } = await tandem.register({
      body: { name, email, password, deviceName, ...referralCode !== '' && { referralCode } }
    })
    setUserId(user.id)
    setStep('verify')
  }
  const verify = async (code: string) => {
    await tandem.verifyEmail({ body: { userId, code } })
    signedIn()
    router.replace('/onboarding')
  }
  const credentials = (
    <Credentials
      email={email}
      password={password}
      isNew={step === 'register'}
      onEmail={setEmail}
      onPassword={setPassword}
    />
  )
  const isFilled = email !== '' && password !== ''
  return (
    <Screen>
      <View style={{ paddingVertical: 40, gap: 6, alignItems: 'center' }}>
        <Text bold tone='accent' size={18}>{brand.name}</Text>
        <Text size={36} bold role='heading' style={{ textAlign: 'center' }}>Better together.</Text>
        <Text tone='soft' style={{ textAlign: 'center' }}>Train, share, and find the person to do it with.</Text>
      </View>
      {step === 'signIn' && (
        <Card>
          {credentials}
          <Button title='Sign in' kind='primary' onPress={async () => await signIn()} isDisabled={!isFilled} />
          <Button title='Create an account' onPress={() => setStep('register')} />
        </Card>
      )}
      {step === 'register' && (
        <Register
          isFilled={isFilled}
          invitation={invitation}
          onRegister={register}
          onBack={() => setStep('signIn')}
        >
          {credentials}
        </Register>
      )}
      {step === 'verify' && <Verify email={email} onVerify={verify} />}
      {step === 'signIn' && <DemoAccounts onSignIn={signIn} />}
    </Screen>
  )
}

interface CredentialsOptions {
  email: string
  password: string
  isNew: boolean
  onEmail: (email: string) => void
  onPassword: (password: string) => void
}

function Credentials ({ email, password, isNew, onEmail, onPassword }: CredentialsOptions) {
  return (
    <>
      <Field
        label='Email'
        value={email}
        onChangeText={onEmail}
        autoComplete='email'
        autoCapitalize='none'
        inputMode='email'
      />
      <Field
        label='Password'
        value={password}
        onChangeText={onPassword}
        secureTextEntry
        autoComplete={isNew ? 'new-password' : 'current-password'}
      />
    </>
  )
}

interface RegisterOptions {
  children: React.ReactNode
  isFilled: boolean
  invitation: string
  onRegister: (name: string, referralCode: string) => Promise<void>
  onBack: () => void
}

function Register ({ children, isFilled, invitation, onRegister, onBack }: RegisterOptions) {
  const [name, setName] = useState('')
  const [referralCode, setReferralCode] = useState(invitation)
  return (
    <Card>
      <Field label='Name' value={name} onChangeText={setName} autoComplete='name' />
      <Text tone='soft' size={14}>Your name is what others see.</Text>
      {children}
      <Field
        label='Invitation code'
        placeholder='If a friend has invited you'
        value={referralCode}
        onChangeText={setReferralCode}
        autoCapitalize='characters'
        maxLength={8}
      />
      <Button
        title='Create account'
        kind='primary'
        onPress={async () => await onRegister(name.trim(), referralCode.trim())}
        isDisabled={!isFilled || name.trim().length < 2}
      />
      <Button title='I have an account' onPress={onBack} />
    </Card>
  )
}

function Verify ({ email, onVerify }: { email: string, onVerify: (code: string) => Promise<void> }) {
  const [code, setCode] = useState('')
  return (
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
      <Button
        title='Continue'
        kind='primary'
        onPress={async () => await onVerify(code)}
        isDisabled={code.length !== 6}
      />
    </Card>
  )
}

const SHOWN_ACCOUNTS = 3

/** The people of `npm run demo`, if it runs. */
function DemoAccounts ({ onSignIn }: { onSignIn: (body: { email: string, password: string }) => Promise<void> }) {
  const accounts = useDemoAccounts()
  if (accounts.length === 0) return null
  return (
    <View style={{ alignItems: 'center', gap: 8 }}>
      <Text tone='soft'>Try it as</Text>
      <Row style={{ flexWrap: 'wrap', justifyContent: 'center', alignItems: 'flex-start' }}>
        {accounts.slice(0, SHOWN_ACCOUNTS).map(({ name, email, password }) => (
          <Button
            key={email}
            title={name.split(' ')[0] ?? name}
            onPress={async () => await onSignIn({ email, password })}
          />
        ))}
      </Row>
    </View>
  )
}
