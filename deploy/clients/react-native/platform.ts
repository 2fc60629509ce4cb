export default { OS: 'ios' }
