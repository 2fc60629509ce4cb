// The name of the brand, as in the store. Its colours and languages come from the server.
const path = require('node:path')

const { name } = require(path.resolve(__dirname, process.env.BRAND_DIR ?? '../../brand', 'brand.json'))
const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

module.exports = {
  name,
  slug,
  scheme: slug,
  orientation: 'portrait',
  userInterfaceStyle: 'automatic',
  platforms: ['ios', 'android', 'web'],
  web: { bundler: 'metro', output: 'single' },
  ios: { infoPlist: { NSAppTransportSecurity: { NSAllowsLocalNetworking: true } } },
  // In a browser, every page is there without a network, too.
  plugins: [['expo-router', { asyncRoutes: false }], 'expo-secure-store', 'expo-font', 'expo-video'],
  // The folder of the server from which an export is served.
  experiments: { baseUrl: process.env.EXPO_BASE_URL ?? '' }
}
