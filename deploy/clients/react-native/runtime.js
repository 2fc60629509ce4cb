// Replaces what Node has by what React Native has, with its own code.
import './globals.js'
import 'react-native/Libraries/Network/fetch'
