import { Migration20261121000000 } from './migrations/Migration20261121000000.js';
import { Migration20261122000000 } from './migrations/Migration20261122000000.js';
import { Migration20261123000000 } from './migrations/Migration20261123000000.js';
import { Migration20261124000000 } from './migrations/Migration20261124000000.js';
import { Migration20261125000000 } from './migrations/Migration20261125000000.js';
import { Migration20261126000000 } from './migrations/Migration20261126000000.js';
import { Migration20261127000000 } from './migrations/Migration20261127000000.js';
import { Migration20261128000000 } from './migrations/Migration20261128000000.js';
import { Migration20261128010000 } from './migrations/Migration20261128010000.js';
import { Migration20261128120000 } from './migrations/Migration20261128120000.js';
import { Migration20261129000000 } from './migrations/Migration20261129000000.js';
import { Migration20261202000000 } from './migrations/Migration20261202000000.js';
import { Migration20261203000000 } from './migrations/Migration20261203000000.js';
import { Migration20261203010000 } from './migrations/Migration20261203010000.js';
import { Migration20261205000000 } from './migrations/Migration20261205000000.js';
import { Migration20261206000000 } from './migrations/Migration20261206000000.js';
import { Migration20261207000000 } from './migrations/Migration20261207000000.js';
import { Migration20261209000000 } from './migrations/Migration20261209000000.js';
import { Migration20261210000000 } from './migrations/Migration20261210000000.js';
import { Migration20261211000000 } from './migrations/Migration20261211000000.js';
import { Migration20261212000000 } from './migrations/Migration20261212000000.js';
import { Migration20261212010000 } from './migrations/Migration20261212010000.js';

/** Every migration, oldest first. Listed here rather than found in a folder, so that a bundle holds them. */
export const migrations = [
  { name: 'Migration20261121000000', class: Migration20261121000000 },
  { name: 'Migration20261122000000', class: Migration20261122000000 },
  { name: 'Migration20261123000000', class: Migration20261123000000 },
  { name: 'Migration20261124000000', class: Migration20261124000000 },
  { name: 'Migration20261125000000', class: Migration20261125000000 },
  { name: 'Migration20261126000000', class: Migration20261126000000 },
  { name: 'Migration20261127000000', class: Migration20261127000000 },
  { name: 'Migration20261128000000', class: Migration20261128000000 },
  { name: 'Migration20261128010000', class: Migration20261128010000 },
  { name: 'Migration20261128120000', class: Migration20261128120000 },
  { name: 'Migration20261129000000', class: Migration20261129000000 },
  { name: 'Migration20261202000000', class: Migration20261202000000 },
  { name: 'Migration20261203000000', class: Migration20261203000000 },
  { name: 'Migration20261203010000', class: Migration20261203010000 },
  { name: 'Migration20261205000000', class: Migration20261205000000 },
  { name: 'Migration20261206000000', class: Migration20261206000000 },
  { name: 'Migration20261207000000', class: Migration20261207000000 },
  { name: 'Migration20261209000000', class: Migration20261209000000 },
  { name: 'Migration20261210000000', class: Migration20261210000000 },
  { name: 'Migration20261211000000', class: Migration20261211000000 },
  { name: 'Migration20261212000000', class: Migration20261212000000 },
  { name: 'Migration20261212010000', class: Migration20261212010000 },
];
