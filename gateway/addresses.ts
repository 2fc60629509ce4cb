import { Url } from '@tandem/process-kit'
import { serviceNames, type ServiceName } from './routes.ts'

export const HttpUrl = (description: string) => Url({ pattern: '^https?://', description })

const addressVariableOf = (service: ServiceName) => `${service.toUpperCase()}_URL`

/** A variable for the address of each service. */
export const addressVariables = Object.fromEntries(
  serviceNames.map((name) => [addressVariableOf(name), HttpUrl(`Address of ${name}`)])
)

/** The addresses of all services in a configuration that was read with `addressVariables`. */
export const readAddresses = (variables: Record<string, unknown>) =>
  Object.fromEntries(serviceNames.map((name) => [name, String(variables[addressVariableOf(name)])])) as Record<
    ServiceName,
    string
  >
