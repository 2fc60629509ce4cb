export { ServiceEnvironment } from './environment.ts'
export { workOfFeature } from './features.ts'
export { runService, type Resources } from './run-service.ts'
