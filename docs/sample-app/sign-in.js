import { useEffect, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html } from './ui.js'

const fieldsOf = {
  email: { label: 'Email', type: 'email', autocomplete: 'username' },
  password: { label: 'Password', type: 'password' },
  name: { label: 'Name', autocomplete: 'name', minlength: 2 },
  code: { label: 'Code from the email', inputmode: 'numeric', autocomplete: 'one-time-code', pattern: '[0-9]{6}' }
}
const steps = {
  signIn: { button: 'Sign in', fields: ['email', 'password'], next: 'register', link: 'Create an account' },
  register: {
    button: 'Create account',
    fields: ['name', 'email', 'password'],
    next: 'signIn',
    link: 'I have an account'
  },
  verify: { button: 'Continue', fields: ['code'] }
}

export function SignIn ({ onSignedIn }) {
  const [step, setStep] = useState('signIn')
  const [values, setValues] = useState({ email: new URLSearchParams(location.search).get('email') ?? '' })
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [people, setPeople] = useState([])
  useEffect(() => {
    // The accounts of `npm run demo`, if it runs.
    const load = async () => setPeople(await (await fetch('/api/accounts')).json())
    void load()
  }, [])

  const run = {
    signIn: async ({ email, password }) => {
      await tandem.signIn({ body: { email, password, deviceName: 'Sample app' } })
      onSignedIn()
    },
    register: async ({ name, email, password }) => {
      const { user } = await tandem.register({ body: { name, email, password } })
      setValues({ email, userId: user.id })
      setStep('verify')
    },
    verify: async ({ userId, code }) => {
      await tandem.verifyEmail({ body: { userId, code } })
      onSignedIn()
    }
  }
  const submit = async (step, values) => {
    setBusy(true)
    setError('')
    await run[step](values).catch((error) => setError(error.message))
    setBusy(false)
  }
  const { button, fields, next, link } = steps[step]
  const chosen = people.find(({ email }) => email === values.email)
  return html`
    <main class="sign-in">
      <section class="hero"><img src="/page/icon.svg" alt="" /><h1>Better together.</h1><p>Train, share, and find the person to do it with.</p></section>
      <form class="card" onSubmit=${(event) => {
    event.preventDefault()
    void submit(step, values)
  }}>
        ${step === 'verify' && html`<p class="soft">We have sent a code to ${values.email}.</p>`}
        ${
    fields.map((name) => {
      const { label, ...field } = fieldsOf[name]
      const autocomplete = field.autocomplete ?? (step === 'register' ? 'new-password' : 'current-password')
      return html`<label key=${name}>${label}<input ...${{ ...field, autocomplete }} required value=${
        values[name] ?? ''
      } onInput=${({ target }) => setValues((all) => ({ ...all, [name]: target.value }))} /></label>`
    })
  }
        ${error && html`<p class="error" role="alert">${error}</p>`}
        <button class="primary" disabled=${isBusy}>${isBusy ? 'One moment …' : button}</button>
        ${next && html`<button type="button" class="plain wide" onClick=${() => setStep(next)}>${link}</button>`}
      </form>
      ${
    people.length > 0 && step === 'signIn' && html`
        <div class="demo"><span>Try it as</span>
          ${
      [...new Set([chosen, ...people])].filter(Boolean).slice(0, 3).map((person) =>
        html`
            <button class="button" onClick=${() => submit('signIn', person)}>${person.name.split(' ')[0]}</button>`
      )
    }
        </div>`
  }
    </main>`
}
