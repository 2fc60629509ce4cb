import { TandemError } from '@tandem/sdk'
import { useLocalSearchParams, useRouter } from 'expo-router'
import { useState } from 'react'
import { View } from 'react-native'
import { useApp } from '../components/api.ts'
import { useAttempt } from '../components/attempt.ts'
import { Button, CodeField, Field } from '../components/controls.tsx'
import { useDemoAccounts } from '../components/demo.ts'
import { useFormat } from '../components/format.ts'
import { Card, ErrorText, Row, Screen, Text } from '../components/layout.tsx'
import { useSession } from '../components/session.tsx'

type Step = 'signIn' | 'code' | 'register' | 'verify'

/** An account that is erased soon, and what keeps it. */
interface Leaving {
  eraseAt: string
  restoreToken: string
}

const deviceName = 'Sample app'

export default function SignIn () {
  const { tandem, brand } = useApp()
  const { signedIn, eraseAt } = useSession()
  const router = useRouter()
  const { email: given = '', code: invitation = '' } = useLocalSearchParams<{ email?: string, code?: string }>()
  const [step, setStep] = useState<Step>(invitation === '' ? 'signIn' : 'register')
  const [email, setEmail] = useState(given)
  const [password, setPassword] = useState('')
  const [userId, setUserId] = useState('')
  const [leaving, setLeaving] = useState<Leaving>()

  const enter = async (request: () => Promise<unknown>) => {
    try {
      await request()
      signedIn()
    } catch (error) {
      const { code, eraseAt, restoreToken } = error instanceof TandemError ? error : {}
      // Who has left the app before they entered the code of their registration gets another one.
      if (code === 'EMAIL_NOT_VERIFIED') return await mailVerification()
      if (eraseAt === undefined || restoreToken === undefined) throw error
      setLeaving({ eraseAt, restoreToken })
    }
  }
  const signIn = async (body = { email, password }) =>
    await enter(() => tandem.signIn({ body: { ...body, deviceName } }))
  const mailCode = async () => {
    await tandem.requestSignInCode({ body: { email } })
    setStep('code')
  }
  const register = async (name: string, referralCode: string) => {
    const { user } = await tandem.register({
      body: { name, email, password, deviceName, ...referralCode !== '' && { referralCode } }
    })
    setUserId(user.id)
    setStep('verify')
  }
  const mailVerification = async () => {
    const { userId = '' } = await tandem.resendVerification({ body: { email } })
    setUserId(userId)
    setStep('verify')
  }
  const verify = async (code: string) => {
    await tandem.verifyEmail({ body: { userId, code } })
    // A registration has signed them in; a refused sign-in has not.
    if (!await tandem.isSignedIn()) await tandem.signIn({ body: { email, password, deviceName } })
    signedIn()
    router.replace('/onboarding')
  }
  const isFilled = email !== '' && password !== ''
  const credentials = (
    <Credentials
      email={email}
      password={password}
      isNew={step === 'register'}
      onEmail={setEmail}
      onPassword={setPassword}
      onSubmit={async () => isFilled && step === 'signIn' && await signIn()}
    />
  )
  if (leaving) {
    return (
      <Stay
        eraseAt={leaving.eraseAt}
        onStay={() =>
          enter(() => tandem.cancelAccountDeletion({ body: { restoreToken: leaving.restoreToken, deviceName } }))}
        onBack={() => setLeaving(undefined)}
      />
    )
  }
  return (
    <Screen>
      <View style={{ paddingVertical: 40, gap: 6, alignItems: 'center' }}>
        <Text bold tone='accent' size={18}>{brand.name}</Text>
        <Text size={36} bold role='heading' style={{ textAlign: 'center' }}>Better together.</Text>
        <Text tone='soft' style={{ textAlign: 'center' }}>Train, share, and find the person to do it with.</Text>
      </View>
      {eraseAt !== undefined && <Deleted eraseAt={eraseAt} />}
      {step === 'signIn' && (
        <Card>
          {credentials}
          <Button title='Sign in' kind='primary' onPress={async () => await signIn()} isDisabled={!isFilled} />
          <Button title='Email me a code instead' onPress={mailCode} isDisabled={email === ''} />
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
      {step === 'verify' && (
        <Code
          email={email}
          onEnter={verify}
          onResend={mailVerification}
          onBack={() => setStep('register')}
        />
      )}
      {step === 'code' && (
        <Code
          email={email}
          onEnter={async (code) => await enter(() => tandem.signInWithCode({ body: { email, code, deviceName } }))}
          onResend={mailCode}
          onBack={() => setStep('signIn')}
        />
      )}
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
  /** The Enter key of the password. */
  onSubmit: () => Promise<unknown>
}

function Credentials ({ email, password, isNew, onEmail, onPassword, onSubmit }: CredentialsOptions) {
  const { attempt, isBusy, error } = useAttempt()
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
        onSubmitEditing={() => {
          // Who presses it twice signs in once.
          if (!isBusy) void attempt(onSubmit)
        }}
      />
      {isBusy && <Text tone='soft' size={14} role='status'>One moment …</Text>}
      {error !== '' && <ErrorText>{error}</ErrorText>}
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

interface CodeOptions {
  email: string
  onEnter: (code: string) => Promise<void>
  onResend: () => Promise<unknown>
  onBack: () => void
}

function Code ({ email, onEnter, onResend, onBack }: CodeOptions) {
  const [code, setCode] = useState('')
  return (
    <Card>
      <Text>{`We have sent a code to ${email}.`}</Text>
      <CodeField value={code} onChangeText={setCode} />
      <Button
        title='Continue'
        kind='primary'
        onPress={async () => await onEnter(code)}
        isDisabled={code.length !== 6}
      />
      <Button title='Send another code' onPress={onResend} />
      <Button title='Back' onPress={onBack} />
    </Card>
  )
}

/** Of an account that was just deleted here. */
function Deleted ({ eraseAt }: { eraseAt: string }) {
  const format = useFormat()
  return (
    <Card>
      <Text bold>Your account is hidden now</Text>
      <Text>{`Everything is erased on ${format.date(eraseAt)}. Sign in before then to keep it.`}</Text>
    </Card>
  )
}

interface StayOptions {
  eraseAt: string
  onStay: () => Promise<void>
  onBack: () => void
}

/** Of an account that is erased soon. */
function Stay ({ eraseAt, onStay, onBack }: StayOptions) {
  const format = useFormat()
  return (
    <Screen title='Do you want to stay?'>
      <Card>
        <Text>{`Your account is hidden, and everything is erased on ${format.date(eraseAt)}.`}</Text>
        <Button title='Keep my account' kind='primary' onPress={onStay} />
        <Button title='Not now' onPress={onBack} />
      </Card>
    </Screen>
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
