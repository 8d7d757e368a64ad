import '../theme/tokens.css';
import { createRoot } from 'react-dom/client';

createRoot(document.getElementById('root')!).render(<p>app</p>);
