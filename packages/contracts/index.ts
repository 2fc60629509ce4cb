export * from './definitions.ts'
export * from './identity.ts'
export * from './profile.ts'
export * from './dashboard.ts'
