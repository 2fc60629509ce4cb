export { ServiceEnvironment } from './environment.ts'
export { runService, type Resources, type Service } from './run-service.ts'
