// Not among the exports of React Native.
export * from '../node_modules/react-native/src/private/webapis/dom/abort-api/AbortController.js'
export * from '../node_modules/react-native/src/private/webapis/dom/abort-api/AbortSignal.js'
