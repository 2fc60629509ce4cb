import { useQuery } from '@tanstack/react-query'
import { Platform } from 'react-native'

// What the developer page of `npm run demo` serves beside the exported app. Any other server answers 404.

interface DemoAccount {
  name: string
  email: string
  password: string
}

interface Order {
  store: 'APPLE' | 'GOOGLE'
  productId: string
  accountToken: string
}

const isExport = Platform.OS === 'web' && !__DEV__

async function read<Body> (path: string, fallback: Body): Promise<Body> {
  const response = await fetch(path)
  return response.ok ? await response.json() as Body : fallback
}

/** Accounts to sign in with. */
export const useDemoAccounts = () =>
  useQuery({
    queryKey: ['demo accounts'],
    enabled: isExport,
    queryFn: async () => await read<DemoAccount[]>('/api/accounts', [])
  }).data ?? []

/** Whether stand-ins of the stores sell here. */
export const useDemoStores = () =>
  useQuery({
    queryKey: ['demo stores'],
    enabled: isExport,
    queryFn: async () => (await read('/config.json', { sells: false })).sells
  }).data ?? false

/**
 * An app calls StoreKit or Play Billing here, with the account token: the store keeps it with the purchase.
 * @returns the field that `addPurchase` sends
 */
export async function buyAtStore (order: Order) {
  const response = await fetch('/api/stores/buy', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order)
  })
  const { signedTransaction, purchaseToken } = await response.json() as Record<string, string | undefined>
  return signedTransaction === undefined ? { purchaseToken } : { signedTransaction }
}
