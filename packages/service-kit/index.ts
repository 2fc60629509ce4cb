export { ServiceEnvironment } from './environment.ts'
export { workOfFeature } from './features.ts'
export { runService, type Resources, type Service } from './run-service.ts'
