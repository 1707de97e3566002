export default {
  anodyne: {
    input: './openapi.yaml',
    output: { target: './generated/orval.ts', client: 'fetch', baseUrl: process.env.ANODYNE_URL },
  },
};
