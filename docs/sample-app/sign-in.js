import { useEffect, useState } from 'preact/hooks'
import { tandem } from './api.js'
import { html } from './ui.js'

export function SignIn ({ onSignedIn }) {
  const [email, setEmail] = useState(new URLSearchParams(location.search).get('email') ?? '')
  const [password, setPassword] = useState('')
  const [error, setError] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [people, setPeople] = useState([])
  useEffect(() => {
    // The accounts of `npm run demo`, if it runs.
    const load = async () => setPeople(await (await fetch('/api/accounts')).json())
    void load()
  }, [])

  const signIn = async (credentials) => {
    setBusy(true)
    setError('')
    try {
      await tandem.signIn({ body: { ...credentials, deviceName: 'Sample app' } })
      onSignedIn()
    } catch (error) {
      setError(error.message)
      setBusy(false)
    }
  }
  const submit = (event) => {
    event.preventDefault()
    void signIn({ email, password })
  }
  const chosen = people.find((person) => person.email === email)
  return html`
    <main class="sign-in">
      <section class="hero"><img src="/page/icon.svg" alt="" /><h1>Better together.</h1><p>Train, share, and find the person to do it with.</p></section>
      <form class="card" onSubmit=${submit}>
        <label>Email<input type="email" autocomplete="username" required value=${email} onInput=${(event) =>
    setEmail(event.target.value)} /></label>
        <label>Password<input type="password" autocomplete="current-password" required value=${password} onInput=${(
    event
  ) => setPassword(event.target.value)} /></label>
        ${error && html`<p class="error" role="alert">${error}</p>`}
        <button class="primary" disabled=${isBusy}>${isBusy ? 'Signing in …' : 'Sign in'}</button>
      </form>
      ${
    people.length > 0 && html`
        <div class="demo"><span>Try it as</span>
          ${
      [...new Set([chosen, ...people])].filter(Boolean).slice(0, 3).map(({ name, email, password }) =>
        html`
            <button class="button" onClick=${() => signIn({ email, password })}>${name.split(' ')[0]}</button>`
      )
    }
        </div>`
  }
    </main>`
}
